"""What a notebook declares to read, in the front matter of its source.

::

    study:
      data: [rated_pairs, openi]        # roles of data, and data sets whose files it reads itself
      settings: [ratescore]             # sections under `experiments` of a profile
      papers: [rales, released]         # printed numbers beyond its own exhibits' papers; `all`: every paper
      cells: [ratescore/ner_training]   # all cells of that notebook
      models: [ner_model, encoder]      # roles of models, used directly or through a metric
      metrics: [ratescore, rouge_l]     # metrics by name
      results: [rales/nlu_scores]       # what other notebooks recorded; `all` for every page's
      trains: true                      # it trains a model of its own, though it is a page

The workflow waits for what is declared, and a run refuses to read anything else.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import yaml
from pydantic import BaseModel

from radeval_lib import own_yaml
from radeval_lib.errors import NotebookError
from radeval_lib.paths import NOTEBOOKS, display_path

ALL = "all"
"""Under ``results``: what every page recorded that does not itself read them all; under ``papers``: every
paper."""


class Declared(BaseModel, extra="forbid", frozen=True):
    """What one notebook reads, and whether it trains; every list may be empty."""

    data: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    papers: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    trains: bool = False

    @property
    def uses_models(self) -> bool:
        """Whether it has to do with models: its own, those of cells, or those of metrics."""
        return bool(self.cells or self.models or self.metrics or self.trains)


_LISTS = [name for name in Declared.model_fields if name != "trains"]


def front_matter(text: str) -> dict[str, object]:
    """Return the YAML between the two ``---`` at the top of a source; empty where there is none.

    Raises
    ------
    ValueError
        Where it is no mapping of keys; a :class:`yaml.YAMLError` where it is not YAML.
    """
    if not text.startswith("---\n"):
        return {}
    head, found, _ = text[4:].partition("\n---\n")
    content = (own_yaml.parse(head) or {}) if found else {}
    if not isinstance(content, dict):
        raise ValueError("it is not a mapping of keys")
    return content


def declared(notebook: str) -> Declared:
    """Return what the notebook (a path below ``notebooks/`` without the ending) declares; a NotebookError
    where its front matter is wrong."""
    path = NOTEBOOKS / f"{notebook}.md"
    return _read(path, path.read_text(encoding="utf-8"))


@lru_cache(maxsize=256)
def _read(path: Path, text: str) -> Declared:
    try:
        return Declared.model_validate(front_matter(text).get("study") or {})
    except (ValueError, yaml.YAMLError) as error:  # of pydantic, too
        lines = str(error).splitlines()
        listed = f"Under `study:` there can be lists of names ({', '.join(_LISTS)}) and `trains: true`."
        raise NotebookError(
            f"the front matter is wrong: {' '.join(lines[1:3]) or lines[0]}", display_path(path), listed
        ) from None
