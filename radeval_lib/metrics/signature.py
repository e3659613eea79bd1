"""The signature of a score: one line that says how it was made, as sacrebleu prints it.

::

    metric:bertscore|variant:f1|layer:5|idf:no|model.encoder:distilbert-base-uncased@6c3a...|text:one-line|version:1.0.0

The parts stand in this order, each ``key:value``, joined by ``|``:

``metric``
    the name that :func:`~radeval_lib.metrics.create` takes.
``variant``
    which of the scores that go by this name, such as a level of F1-RadGraph or RaTEScore's preset.
settings
    every other setting that decides scores, by name in alphabetical order; ``yes``, ``no`` and ``none`` for
    True, False and None.
``model.ROLE``
    the name of each model, without its folder, ``@``, and the first twelve digits of the SHA-256 of its
    files, or of the commit of a model that a hub holds; ``unknown`` where neither can be known.
``text``
    what is done to a text before it is scored, joined by ``+``.
``version``
    that of this library.

White space, ``|``, ``%`` and what is not ASCII is percent-encoded. The device and caches are left out: they
change no score but in its last digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

from radeval_lib import checksums
from radeval_lib.registry import RULES

_SAFE = ":/@+,.-_~()[]<>=#*"
_WORDS = {True: "yes", False: "no", None: "none"}
_MODEL = "model."
UNKNOWN = "unknown"
FRONT_DOOR = ("plain-characters", "sections", "statements")
"""What :mod:`radeval_lib.rules.report_text` does to a text, for the signature of what reads through it."""
_DIGITS = 12  # of the SHA-256, or commit, of a model


@dataclass(frozen=True)
class Signature:
    """How a score was made; as a text, the one line that says so.

    Attributes
    ----------
    metric, variant, version : as in the module's description.
    settings : by name, as texts.
    models : by role, ``name@digits``.
    text : what is done to a text before it is scored.
    """

    metric: str
    variant: str
    settings: Mapping[str, str]
    models: Mapping[str, str]
    text: tuple[str, ...]
    version: str

    def __str__(self) -> str:
        parts = {
            "metric": self.metric,
            "variant": self.variant,
            **dict(sorted(self.settings.items())),
            **{f"{_MODEL}{role}": model for role, model in sorted(self.models.items())},
            "text": "+".join(self.text),
            "version": self.version,
        }
        return "|".join(f"{key}:{quote(value, safe=_SAFE)}" for key, value in parts.items())

    def __hash__(self) -> int:
        return hash(str(self))


def setting_text(value: object) -> str:
    """Return a setting as a signature has it."""
    return (
        _WORDS[cast("bool | None", value)]
        if value is None or isinstance(value, bool)
        else str(value) or "none"
    )


def model_text(name: str) -> str:
    """Return a model as a signature has it, by the name or folder that a metric was given."""
    shown = Path(name).name if "://" not in name and Path(name).exists() else name
    return f"{shown}@{_digits(name)[:_DIGITS]}"


def _digits(name: str) -> str:
    """Return what identifies a model's content, or :data:`UNKNOWN`."""
    if name == RULES:
        return _rules_digest()
    from radeval_lib.errors import ModelError
    from radeval_lib.models.identity import checksum
    from radeval_lib.models.packaged import is_packaged
    from radeval_lib.models.pretrained import ADDRESSES, RADGRAPH

    if name.startswith((RADGRAPH, *ADDRESSES)):
        return UNKNOWN
    path = Path(name)
    if path.is_file():
        return checksums.of_file(path)
    try:
        return checksum(name) if path.is_dir() or is_packaged(name) else _commit(name)
    except ModelError:
        return UNKNOWN


def _commit(hub: str) -> str:
    """Return the commit of a model in this machine's cache of the hub; its folder there has that name."""
    try:
        from huggingface_hub import try_to_load_from_cache
        from huggingface_hub.errors import HFValidationError

        from radeval_lib.models.catalog import revision_of
    except ModuleNotFoundError:
        return UNKNOWN
    try:
        found: Any = try_to_load_from_cache(hub, "config.json", revision=revision_of(hub))
    except HFValidationError:
        return UNKNOWN
    return Path(found).parent.name if isinstance(found, str) else UNKNOWN


@lru_cache(maxsize=1)
def _rules_digest() -> str:
    """Return the SHA-256 of the lexicon, the reader, the judge by rules and the observations."""
    library = Path(__file__).parents[1]  # not imported: a signature of another metric does not depend on them
    files = [path for path in (library / "rules").rglob("*") if path.suffix in (".py", ".yml")]
    files = [path for path in files if path.parent.name != "generator"]
    files += Path(__file__).parent.glob("observations.*")
    named = sorted((f"{path.parent.name}/{path.name}", checksums.of_file(path)) for path in files)
    return checksums.of_text("\n".join(f"{name} {digest}" for name, digest in named))
