"""Runs and their recorded results: what a notebook found out about an exhibit, written atomically as JSON."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from radeval_lib import data, origin, roles
from radeval_lib.data.manifests import load_manifest, names
from radeval_lib.errors import NotebookError, ParameterError, ResultError
from radeval_lib.experiments.ratescore import trainings
from radeval_lib.models import initial
from radeval_lib.papers.exhibits import exhibit
from radeval_lib.papers.printed_numbers import paper
from radeval_lib.paths import BUILD, NOTEBOOKS, PROFILES, shown
from radeval_lib.study import profiles
from radeval_lib.study.checks import Check
from radeval_lib.study.profiles import Profile

EVIDENCE = ("print", "synthetic", "open", "credentialed")
VERDICTS = ("reproduced", "differs", "shape only", "not attempted")
CAUSES = ("paper", "text", "definition", "rounding")
TRAINED = "trained"
_FORMAT = 1


# How a sentence names a role, and what fills it.
_NOUNS = {"ner_model": "recogniser", "ner_corpus": "annotated sentences"}
_WORDS = {roles.SYNTHETIC: "from the generator", TRAINED: "trained in this build"}


def _title(filler: str) -> str:
    """The name of a data set as its manifest has it, or of a model."""
    return _data_title(filler) or initial.title(filler)


def _data_title(filler: str) -> str:
    name = roles.dataset_of(filler)
    return load_manifest(name).title.partition(":")[0] if name in names() else ""


def _filler_words(filler: str) -> str:
    title = _data_title(filler)
    return _WORDS.get(filler) or (f"from {title}" if title else initial.title(filler))


@dataclass(frozen=True)
class Run:
    """One run of one notebook.

    Attributes
    ----------
    notebook : path below ``notebooks/`` without the ending.
    profile : the settings.
    seed : seed of this run's random choices.
    output_dir : folder of the profile's results and checkpoints.
    data_root : folder of data that the user obtained, or None.
    """

    notebook: str
    profile: Profile
    seed: int
    output_dir: Path
    data_root: Path | None

    def rng(self, stream: str = "") -> np.random.Generator:
        """A generator that depends on the seed and ``stream`` alone, not on what was drawn before."""
        key = int.from_bytes(hashlib.sha256(stream.encode()).digest()[:4], "big")
        return np.random.default_rng([self.seed, key])

    def find(self, dataset: str, file: str = "") -> Path | None:
        """A verified file of a data set under the data root, noted as used; None where it is not there."""
        path = data.find(dataset, self.data_root, file)
        if path is not None and self.data_root is not None:
            origin.note_use(path, path.relative_to(self.data_root).as_posix())
        return path

    def load(self, role: str) -> list[Any]:
        """The records that fill a role in this run's profile.

        Raises
        ------
        RoleError
            Where the profile fills no such role, or what fills it is not there.
        """
        return roles.load(
            role,
            self._filler(role),
            size=self.profile.sizes.get(role, 0),
            seed=self.seed,
            root=self.data_root,
        )

    def model(self, role: str) -> str:
        """Name or folder of the model that fills a role in this run's profile, noted as used.

        Raises
        ------
        RoleError
            Where the profile fills no such role.
        ResultError, ModelError
            Where the recogniser that fills it was not trained yet, or the model is not there.
        """
        from radeval_lib.models.loading import checksum

        if role not in self.profile.models:
            known = ", ".join(self.profile.models)
            raise roles.RoleError(
                f"profile {self.profile.name!r} fills no model role {role!r}", "", f"Model roles: {known}."
            )
        name = self.profile.models[role]
        where = name
        if name == TRAINED:
            where = str(trainings.recogniser(self.output_dir, self.profile))
        elif name.startswith(initial.UNTRAINED):
            where = initial.untrained(name, self.output_dir / "models", self.seed)
        origin.note_model(role, name, checksum(where))
        return where

    def evidence(self, role: str) -> str:
        """Level of evidence of what is computed on a role: ``synthetic``, ``open`` or ``credentialed``."""
        return roles.evidence(self._filler(role))

    def source(self, role: str) -> str:
        """What fills a role of data, as a page names it: ``the generator``, or a data set's title."""
        filler = self._filler(role)
        return "the generator" if filler == roles.SYNTHETIC else _title(filler)

    def stand_in(self, wanted: Mapping[str, str]) -> str:
        """What stands in for the paper's own data and models in this run; empty where nothing does.

        Parameters
        ----------
        wanted : what the paper used, by role of data or model.
        """
        filled = {**self.profile.roles, **self.profile.models}
        return "; ".join(
            f"{_NOUNS.get(role, role.replace('_', ' '))} {_filler_words(filled[role])}, not {_title(paper)}"
            for role, paper in wanted.items()
            if filled[role] != paper
        )

    def _filler(self, role: str) -> str:
        if role not in self.profile.roles:
            known = ", ".join(self.profile.roles)
            raise roles.RoleError(
                f"profile {self.profile.name!r} fills no role {role!r}", "", f"Roles: {known}."
            )
        return self.profile.roles[role]

    @property
    def results_dir(self) -> Path:
        return self.output_dir / "results" / self.notebook


@dataclass(frozen=True)
class Result:
    """What one notebook found out about one exhibit at one level of evidence.

    Attributes
    ----------
    verdict : one of :data:`VERDICTS`.
    remaining : what of the exhibit was not rebuilt, and what that would need; empty if all of it was.
    causes : for each differing check that has a known cause, its name -> (cause, explanation).
    stand_in : what stands in for the paper's own data or models, where something does.
    table : the rebuilt table as records, for readers of the JSON.
    provenance : data, code, settings and versions.
    """

    exhibit: str
    notebook: str
    evidence: str
    verdict: str
    checks: tuple[Check, ...]
    remaining: str
    causes: dict[str, tuple[str, str]]
    table: list[dict[str, Any]]
    provenance: dict[str, Any]
    stand_in: str = ""

    @property
    def differing(self) -> list[Check]:
        return [check for check in self.checks if not check.agrees]

    def _repr_html_(self) -> str:
        from radeval_lib.study.display import verdict_html

        return verdict_html(self)


def begin(notebook: str, *, profile: str, seed: int, output_dir: str = "", data_root: str = "") -> Run:
    """Start a run: check the parameters that papermill passed, and set the book's plotting style.

    Parameters
    ----------
    notebook : the notebook's own path below ``notebooks/`` without the ending.
    profile : name of a profile.
    seed : non-negative; 0 takes the profile's seed.
    output_dir : where results go; empty: ``build/<profile>``.
    data_root : folder of data files; empty: the environment variable ``RADEVAL_DATA_ROOT``, if set.

    Raises
    ------
    NotebookError, ProfileError, ParameterError, DataRootError
        Where a parameter is unknown, of the wrong type, or names what does not exist.
    """
    from radeval_lib import plots

    if not (NOTEBOOKS / f"{notebook}.md").is_file():
        raise NotebookError(
            f"unknown notebook {notebook!r}", shown(NOTEBOOKS), "Give its path, such as rales/datasets."
        )
    settings = profiles.profile(profile)
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ParameterError(f"seed must be a whole number from 0, not {seed!r}", notebook)
    plots.use_style()
    # Model libraries ask for a progress bar of widgets, which no page could show.
    warnings.filterwarnings("ignore", message="IProgress not found")
    root = data.data_root(data_root or None)
    if settings.needs_data_root and root is None:
        raise ParameterError(
            f"profile {profile!r} needs data files", notebook, "Name their folder in RADEVAL_DATA_ROOT."
        )
    return Run(
        notebook=notebook,
        profile=settings,
        seed=seed or settings.seed,
        output_dir=Path(output_dir) if output_dir else BUILD / settings.name,
        data_root=root,
    )


def judge(evidence: str, checks: Sequence[Check], stand_in: str = "") -> str:
    """The verdict that checks at one level of evidence earn (CONTRIBUTING.md, The words).

    Synthetic data, and other data or models than the paper's, show the shape of a result and never reproduce
    it.
    """
    if evidence not in EVIDENCE:
        raise ResultError(f"unknown evidence {evidence!r}", remedy=f"Evidence: {', '.join(EVIDENCE)}.")
    if not checks:
        raise ResultError(
            "a result without a check earns no verdict", remedy="Leave the exhibit unrecorded instead."
        )
    called = [check.name for check in checks]
    if doubled := sorted({name for name in called if called.count(name) > 1}):
        raise ResultError(
            f"two checks are called {doubled[0]!r}", remedy="Give each check a name of its own."
        )
    if evidence == "synthetic" or stand_in:
        return "shape only"
    return "reproduced" if all(check.agrees for check in checks) else "differs"


def causes_of(exhibit_id: str, evidence: str, checks: Sequence[Check]) -> dict[str, tuple[str, str]]:
    """The known cause of each differing check, by the check's name.

    Source: ``discrepancies`` in the paper's ``paper.yml``; an entry holds at one level of evidence, ``print``
    unless it names another.
    """
    known = [
        entry
        for entry in paper(exhibit_id.partition(".")[0]).get("discrepancies") or []
        if entry["exhibit"] == exhibit_id and entry.get("evidence", "print") == evidence
    ]
    found = {}
    for check in checks:
        entry = next((e for e in known if any(fnmatchcase(check.name, glob) for glob in e["checks"])), None)
        if entry and not check.agrees:
            found[check.name] = (entry["cause"], " ".join(entry["explanation"].split()))
    return found


def record(
    run: Run,
    exhibit_id: str,
    *,
    evidence: str,
    checks: Sequence[Check],
    remaining: str = "",
    stand_in: str = "",
    table: pd.DataFrame | None = None,
) -> Result:
    """Judge an exhibit and write the result with its provenance, whole or not at all.

    Parameters
    ----------
    evidence : one of :data:`EVIDENCE`: what the computed side rests on.
    checks : at least one comparison.
    remaining : what of the exhibit was not rebuilt, and what that would need; empty only if all of it was.
    stand_in : what stands in for the paper's own data or models; where something does, the verdict is
        ``shape only``.
    table : the rebuilt table, kept with the result.

    Returns
    -------
    Result
        Shows its verdict as a sentence when a notebook displays it.
    """
    entry = exhibit(exhibit_id)
    if entry.notebook != run.notebook:
        raise ResultError(f"{exhibit_id} belongs to notebook {entry.notebook!r}, not to {run.notebook!r}")
    source = NOTEBOOKS / f"{run.notebook}.md"
    result = Result(
        exhibit=exhibit_id,
        notebook=run.notebook,
        evidence=evidence,
        verdict=judge(evidence, checks, stand_in),
        checks=tuple(checks),
        remaining=" ".join(remaining.split()),
        stand_in=" ".join(stand_in.split()),
        causes=causes_of(exhibit_id, evidence, checks),
        table=[] if table is None else json.loads(table.reset_index().to_json(orient="records")),
        provenance={
            "notebook": {shown(source): origin.sha256(source)},
            "profile": {
                shown(PROFILES / f"{run.profile.name}.yml"): origin.sha256(
                    PROFILES / f"{run.profile.name}.yml"
                )
            },
            "seed": run.seed,
            "data": origin.used_data(),
            "models": origin.used_models(),
            **origin.environment(),
        },
    )
    _write(run.results_dir / f"{exhibit_id}.{evidence}.json", result)
    return result


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _write(path: Path, result: Result) -> None:
    content = json.loads(json.dumps(asdict(result)))
    whole = {"format": _FORMAT, "sha256": _digest(content), **content}
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(whole, stream, indent=1, sort_keys=True, ensure_ascii=False)
            stream.write("\n")
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read(path: Path) -> Result:
    """A recorded result.

    Raises
    ------
    ResultError
        Where the file is cut short, was edited, or is of another format.
    """
    remedy = "Delete it and run `radbook build` again: it is made anew."
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        form, digest = content.pop("format"), content.pop("sha256")
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, AttributeError, TypeError):
        raise ResultError("this results file is cut short or no results file", shown(path), remedy) from None
    if form != _FORMAT:
        raise ResultError(f"results format {form!r}, where {_FORMAT} is wanted", shown(path), remedy)
    if digest != _digest(content):
        raise ResultError("this results file was changed after it was written", shown(path), remedy)
    content["checks"] = tuple(Check(**check) for check in content["checks"])
    content["causes"] = {name: (cause, why) for name, (cause, why) in content["causes"].items()}
    return Result(**content)


def read_all(output_dir: Path) -> list[Result]:
    """Every recorded result of a profile, in the ledger's order.

    Raises
    ------
    ResultError
        Where a file is damaged, or stands under a notebook that does not rebuild its exhibit.
    """
    from radeval_lib.papers.exhibits import ledger

    results = []
    for path in sorted((output_dir / "results").glob("*/*/*.json")):
        result = read(path)
        folder = path.parent.relative_to(output_dir / "results").as_posix()
        if exhibit(result.exhibit).notebook != folder:
            raise ResultError(
                "the ledger gives this exhibit to another notebook", shown(path), "Delete the file."
            )
        results.append(result)
    order = {exhibit_id: place for place, exhibit_id in enumerate(ledger())}
    return sorted(results, key=lambda result: (order[result.exhibit], EVIDENCE.index(result.evidence)))
