"""A copy of the project whose profile `full` has the real names and small sizes, with all that it names."""

from __future__ import annotations

import fnmatch
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from radeval_lib import checksums
from radeval_lib.data.restricted import reveal
from radeval_lib.data.roles import load
from radeval_lib.models import catalog
from radeval_lib.paths import ROOT
from radeval_lib.pipeline import engine, steps
from radeval_lib.study.profiles import profile
from tests.copies import copy_found_out
from tests.full import data_files, models

_TASKS = ("graphs", "spatial", "stanza", "procedures")
_MADE = ("build", ".snakemake")
"""What a build leaves in a project."""
_ONE_EPOCH = {"epochs": 1, "batch_size": 16, "learning_rate": 1.0e-3}
_SHORT = {"longest_source": 64, "longest_target": 8, "beams": 1}  # a model of random weights never ends
SMALL: dict[str, Any] = {
    "device": "cpu",
    "threads": 1,
    "resamples": 200,
    "models": {"graph_model": "job:summarization/graph_training"},  # the package radgraph is no hub model
    "experiments": {
        "ratescore": {
            "training_seeds": 2,
            "training": {"iob": _ONE_EPOCH, "span": {**_ONE_EPOCH, "hidden": 16}},
        },
        "radgraph": {
            "training_seeds": 2,
            "training": {"epochs": 1, "hidden": 16, "patience": 1},
            "scored_pairs": 12,
        },
        "rales": {
            "documents": {"graphs": 6, "spatial": 6, "stanza": 30, "procedures": 60},
            "test_documents": {"graphs": 0, "spatial": 4, "stanza": 12, "procedures": 40},
            "draws": dict.fromkeys(("all", "tenth", "hundredth", "probe"), 1),
            "defaults": {task: {"epochs": 1, "patience": 1} for task in _TASKS},
            "pretraining": {"reports": 12, "batch_size": 4},
            "startup": 1,
        },
        "green": {
            **{"held": 2, "longest": 1000, "answer": 20, "summarized": 20},
            "training": {"batch_size": 2, "accumulate": 1, "epochs": 1},
        },
        "summarization": {
            **{"reports_a_pair": 4, "dev_a_pair": 1, "rales_reports": 6, "rales_dev": 2, "limit_reports": 10},
            **{"seeds": 1, "smaller": "T5-S"},
        },
    },
}
"""What is smaller than in `full`, on a CPU."""


@dataclass(frozen=True)
class TinyFull:
    """The copy in ``path``, with a data root and a cache of the hub beside it."""

    path: Path
    root: Path
    hub: Path

    def radbook(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "radeval_lib.cli", *arguments]
        variables = {"PYTHONPATH": self.path, "RADEVAL_DATA_ROOT": self.root, "HF_HUB_CACHE": self.hub}
        env = os.environ | {name: str(path) for name, path in variables.items()} | {"HF_HUB_OFFLINE": "1"}
        return subprocess.run(command, cwd=self.path, env=env, capture_output=True, text=True, check=False)

    def keep(self) -> None:
        """Remember what was built, for :meth:`restore`."""
        for name in _MADE:
            shutil.copytree(self.path / name, self.path.with_name("kept") / name, symlinks=True)

    def restore(self) -> None:
        """Have every data set and what was built as :meth:`keep` found them: nothing is out of date."""
        self.without()
        for name in _MADE:
            shutil.rmtree(self.path / name)
            shutil.copytree(self.path.with_name("kept") / name, self.path / name, symlinks=True)

    def without(self, *datasets: str) -> None:
        """Move the files of these data sets away, and bring back all others."""
        away = self.root.with_name("away")
        for file in [path for path in away.rglob("*") if path.is_file()]:
            _move(file, self.root / file.relative_to(away))
        for name in datasets:
            manifest = yaml.safe_load((self.path / f"data_manifests/datasets/{name}.yml").read_text("utf-8"))
            for path in (entry["path"] for entry in manifest["files"]):
                if (self.root / path).is_file():
                    _move(self.root / path, away / path)


def _move(file: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    file.rename(target)


def copy_project(target: Path) -> None:
    """Copy the project as a clone has it, without its tests."""

    def skipped(folder: str, names: list[str]) -> set[str]:
        at_top = {"build", "data", ".git", ".venv", "tests"} if Path(folder) == ROOT else set()
        return at_top.union(fnmatch.filter(names, "__pycache__"), fnmatch.filter(names, ".*_cache"))

    shutil.copytree(ROOT, target, ignore=skipped, symlinks=True)
    copy_found_out(target)


def make(target: Path, *, with_models: bool = True) -> TinyFull:
    """Return the copy, in an empty folder; without models, for pages that need none."""
    path, root, hub = target / "project", target / "data", target / "hub"
    copy_project(path)
    data_files.write(root)
    hub.mkdir()
    if with_models:
        generated = partial(load, source="synthetic", seed=0, root=None)
        words = [reveal(entry.findings) for entry in generated("summaries", size=200)]
        words += [reveal(entry.prompt) for entry in generated("judged_pairs", size=4)]
        models.write(engine.find_hub_models(steps.graph("full")), hub, words)
    project = TinyFull(path, root, hub)
    measure_files(project)
    _write_profile(path / "data_manifests" / "profiles" / "full.yml")
    return project


def measure_files(project: TinyFull) -> None:
    """Write the sums of the project's own files into its manifests, in place of those of the public ones."""
    for manifest in sorted((project.path / "data_manifests" / "datasets").glob("*.yml")):
        content = yaml.safe_load(manifest.read_text(encoding="utf-8"))
        for entry in content["files"]:
            file = project.root / entry["path"]
            if file.is_file() and "size" in entry:
                entry |= {"size": file.stat().st_size, "sha256": checksums.of_file(file)}
        manifest.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), encoding="utf-8")


def _write_profile(target: Path) -> None:
    content = profile("full").model_dump(mode="json", exclude={"name"})
    experiments = content["experiments"]
    rales, summarization = experiments["rales"], experiments["summarization"]
    # An encoder is sixteen cells: one of words (BERT), one of bytes (RoBERTa), and the one that a cell makes.
    # The other architectures are trained by the cells of entities and of summaries.
    first = _one_of_each_family(rales["encoders"])
    rales["encoders"] = [entry for entry in first if _family(entry) in ("bert", "roberta", "in_domain")]
    rales["trials"] = dict.fromkeys(rales["trials"], 1)
    spans = experiments["ratescore"]["initial_models"]
    spans["span"] = _one_of_each_family(spans["span"])
    summarization["systems"] = _different(summarization)
    for systems in ("systems", "rales_systems"):
        for entry in summarization[systems].values():
            if "training" in entry:
                entry["training"] |= {"epochs": 1, "patience": 1, "batch_size": 4}
            if entry["kind"] in ("seq2seq", "encoder_decoder"):
                entry["settings"] = entry.get("settings", {}) | _SHORT
    target.write_text(yaml.safe_dump(_merged(content, SMALL), sort_keys=False), encoding="utf-8")


def _family(name: str) -> str:
    """Return a hub model's architecture; of another model, such as the one that a cell makes, its name."""
    return next((card.family for card in catalog.list_cards() if card.hub == name), name)


def _one_of_each_family(encoders: list[str]) -> list[str]:
    """Return the first encoder of each architecture, and the in-domain one, which a cell makes."""
    first: dict[str, str] = {}
    for name in encoders:
        first.setdefault(_family(name), name)
    return list(first.values())


def _different(section: dict[str, Any]) -> dict[str, Any]:
    """Return the first system of each architecture, and the one that is shown, in place of its smaller
    relatives."""
    first: dict[str, str] = {_family(section["systems"][section["shown"]]["start"]): section["shown"]}
    for name, entry in section["systems"].items():
        first.setdefault(_family(entry["start"]) if entry.get("start") else entry["kind"], name)
    return {name: entry for name, entry in section["systems"].items() if name in first.values()}


def _merged(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    merged = base | changes
    for key, value in changes.items():
        if isinstance(value, dict) and isinstance(base.get(key), dict):
            merged[key] = _merged(base[key], value)
    return merged
