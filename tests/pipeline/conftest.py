"""A tiny repository: the real library and pipeline, two notebooks, one prose page."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from radeval_lib.paths import ROOT
from tests.copies import copy_found_out

HEADER = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
study:
  {declares}
---

# {title}

```{{code-cell}} ipython3
:tags: [parameters]

profile = "embedded"
seed = 0
output_dir = ""
data_root = ""
{parameters}
```

```{{code-cell}} ipython3
from radeval_lib import study

run = study.begin("{name}", profile=profile, seed=seed, output_dir=output_dir, data_root=data_root{begin})
```

```{{code-cell}} ipython3
{body}
```
"""

RECORDS = """cells = study.cells_in(study.printed("{exhibit}"))[:1]
checks = [study.check_value("{exhibit}", "2", 1 + 1, cells=cells)]
with run.exhibit("{exhibit}", "printed") as exhibit:
    exhibit.add(checks)"""


PLAN = """
from pydantic import BaseModel
from radeval_lib.study.jobs import Job


class Settings(BaseModel):
    numbers: list[int]


def job_list(profile):
    return [Job.of("facts/cell", number=n) for n in profile.section("counting", Settings).numbers]
"""

BOOK = {
    "index.md": "# A tiny book\n\n```{bibliography}\n```\n",
    "glossary.md": "(glossary)=\n# Words\n\n```{glossary}\ncandidate\n  The text that is judged.\n```\n",
    "how_to_cite.md": "(how-to-cite)=\n# How to cite\n\n<!-- cite: book -->\n",
    "_toc.yml": "format: jb-book\nroot: index\nchapters:\n- file: notebooks/facts/one\n"
    "- file: notebooks/facts/two\n- file: glossary\n- file: how_to_cite\n",
}


@dataclass(frozen=True)
class TinyRepository:
    """A repository in ``path``: notebooks facts/one and facts/two rebuild facts.table1 and facts.table2."""

    path: Path

    def write(
        self,
        name: str,
        body: str,
        declares: str = "results: []",
        parameters: Mapping[str, object] | None = None,
        begin: str = "",
    ) -> None:
        target = self.path / "notebooks" / f"{name}.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        values = "\n".join(f"{key} = {value!r}" for key, value in (parameters or {}).items())
        begin = f", {begin}" if begin else ""
        text = HEADER.format(
            title=name, name=name, body=body, declares=declares, parameters=values, begin=begin
        )
        target.write_text(text, encoding="utf-8")

    def plan_jobs(self, numbers: Sequence[int]) -> Path:
        """Have a job of the notebook facts/cell for each number; return the file of the profile."""
        (self.path / "radeval_lib" / "jobs" / "counting.py").write_text(PLAN, encoding="utf-8")
        registry = self.path / "radeval_lib" / "registry.py"
        line = 'PLANS = {\n    "facts/cell": "radeval_lib.jobs.counting:job_list",\n'
        source = registry.read_text(encoding="utf-8")
        registry.write_text(source.replace("PLANS = {\n", line), encoding="utf-8")
        profile = self.path / "data_manifests" / "profiles" / "embedded.yml"
        with profile.open("a", encoding="utf-8") as stream:
            stream.write(f"  counting: {{numbers: {list(numbers)}}}\n")
        return profile

    @property
    def build(self) -> Path:
        return self.path / "build" / "embedded"

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name != "RADEVAL_DATA_ROOT"}
        return {**kept, "PYTHONPATH": str(self.path), **(extra or {})}

    def run(
        self, command: Sequence[str], extra: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=self.path, env=self.environment(extra), capture_output=True, text=True, check=False
        )

    def radbook(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run(self.command(arguments))

    @staticmethod
    def command(arguments: Sequence[str]) -> list[str]:
        return [sys.executable, "-m", "radeval_lib.cli", *arguments]


@pytest.fixture
def tiny(tmp_path: Path) -> TinyRepository:
    """A fresh tiny repository."""
    return tiny_repository(tmp_path)


def tiny_repository(target: Path) -> TinyRepository:
    """Return a fresh tiny repository in an empty folder."""
    skip = shutil.ignore_patterns("__pycache__")
    for folder in ("radeval_lib", "data_manifests", "workflow"):
        shutil.copytree(ROOT / folder, target / folder, ignore=skip)
    copy_found_out(target)
    for name in ("Snakefile", "_config.yml", "CITATION.cff"):
        shutil.copy(ROOT / name, target / name)
    profile = target / "data_manifests" / "profiles" / "embedded.yml"
    settings = profile.read_text(encoding="utf-8")  # how busy the machine is decides nothing
    profile.write_text(settings.replace("limits: {", "limits: {start_seconds: 1800, "), encoding="utf-8")
    for name, text in BOOK.items():
        (target / "book").mkdir(exist_ok=True)
        (target / "book" / name).write_text(text, encoding="utf-8")
    moved = {"facts.table1": "facts/one", "facts.table2": "facts/two"}
    for path in (target / "data_manifests" / "papers").glob("*/paper.yml"):
        paper = yaml.safe_load(path.read_text(encoding="utf-8"))
        exhibits = [entry for entry in paper["exhibits"] if entry["id"] in moved]
        paper["exhibits"] = [entry | {"notebook": moved[entry["id"]]} for entry in exhibits]
        path.write_text(yaml.safe_dump(paper, sort_keys=False, allow_unicode=True), encoding="utf-8")
    repository = TinyRepository(target)
    repository.write("facts/one", RECORDS.format(exhibit="facts.table1"))
    repository.write("facts/two", RECORDS.format(exhibit="facts.table2"))
    return repository
