"""What is redone after an edit: the steps whose numbers the edit can move, and no others."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

from radeval_lib.paths import ROOT
from radeval_lib.study import dependencies
from radeval_lib.study.dependencies import parse
from radeval_lib.study.profiles import profile
from tests.copies import copy_found_out

TRAINING, RATED, METHOD = "ratescore/ner_training", "ratescore/rated_pairs", "ratescore/correlations"
SUMMARIZERS, GRAPHS, FITTING = "summarization/training", "summarization/graph_training", "rales/fitting"
PRINT = "rales/nlu_scores"
JOBS = {TRAINING, SUMMARIZERS, GRAPHS, FITTING}
KEYS = """
import json, sys
from pathlib import Path
from radeval_lib.pipeline import steps
graph = steps.graph(sys.argv[1], data_root=Path(sys.argv[2]) if sys.argv[2] else None)
print(json.dumps({name: graph.cache_key(name) for name in graph.with_jobs(graph.pages)}))
"""


@dataclass(frozen=True)
class Copy:
    """A copy of the repository's sources, for one profile, perhaps with a data root."""

    path: Path
    profile: str = "embedded"
    data_root: Path | None = None

    @classmethod
    def into(cls, path: Path, profile: str = "embedded", data_root: Path | None = None) -> Copy:
        for folder in ("radeval_lib", "data_manifests", "notebooks", "workflow"):
            shutil.copytree(ROOT / folder, path / folder, ignore=shutil.ignore_patterns("__pycache__"))
        copy_found_out(path)
        return cls(path, profile, data_root)

    def keys(self) -> dict[str, str]:
        """Return the content key of every step."""
        command = [sys.executable, "-c", KEYS, self.profile, str(self.data_root or "")]
        env = {"PYTHONPATH": str(self.path), "PATH": os.environ.get("PATH", "")}
        done = subprocess.run(command, cwd=self.path, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        keys: dict[str, str] = json.loads(done.stdout)
        return keys

    @cached_property
    def untouched(self) -> dict[str, str]:
        """The keys before any edit."""
        return self.keys()

    def stale(self, edits: dict[Path, bytes]) -> set[str]:
        """Return the notebooks of steps whose key differs while files have other content."""
        contents = {path: path.read_bytes() for path in edits}
        assert contents != edits
        try:
            for path, content in edits.items():
                path.write_bytes(content)
            after = self.keys()
        finally:
            for path, content in contents.items():
                path.write_bytes(content)
        before = self.untouched
        changed = {name for name in before | after if before.get(name) != after.get(name)}
        return {"/".join(name.split("/")[:2]) for name in changed}

    def after(self, file: str, old: str, new: str) -> set[str]:
        """Return what is stale once ``old`` is replaced in a file, or ``new`` added to its end."""
        text = (self.path / file).read_text(encoding="utf-8")
        assert old in text, f"{file} has no {old!r}"
        edited = text.replace(old, new, 1) if old else text + new
        return self.stale({self.path / file: edited.encode()})


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    return Copy.into(tmp_path_factory.mktemp("embedded"))


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory, data_root: Path) -> Copy:
    """The profile ``open`` over a data root of its own."""
    root = tmp_path_factory.mktemp("root") / "data"
    shutil.copytree(data_root, root, copy_function=shutil.copyfile)
    for path in (root, *root.rglob("*")):
        path.chmod(0o755)
    return Copy.into(tmp_path_factory.mktemp("open"), "open", root)


# By file: the notebooks that a change of what it does reaches, and some that it does not, on generated data.
USERS = {
    "radeval_lib/metrics/bleu.py": ({RATED}, {TRAINING}),
    "radeval_lib/models/graph_model.py": ({GRAPHS}, {METHOD}),
    "radeval_lib/stats/calibration.py": ({"rales/calibration"}, {RATED}),
    "radeval_lib/study/page_runs.py": ({METHOD}, {TRAINING}),
    "radeval_lib/jobs/rales_tasks.py": ({FITTING}, {TRAINING}),
    "radeval_lib/data/radpref.py": ({RATED, "across/which_judge"}, {TRAINING, FITTING, PRINT}),
}
TEETH, EMBEDDED = "radeval_lib/rules/lexicon/regions/teeth.yml", "data_manifests/profiles/embedded.yml"
TABLE, HEADLINES = "data_manifests/papers/rales/table3.csv", "data_manifests/headlines.yml"
EDITS = [
    *((file, "", "EDITED = True\n", *reached) for file, reached in USERS.items()),
    (TEETH, "common: 0.8", "common: 0.7", {TRAINING}, {PRINT, METHOD, "rales/domain_and_size"}),
    (EMBEDDED, "ner_corpus: 600", "ner_corpus: 601", {TRAINING}, JOBS - {TRAINING}),
    (TABLE, "", "\n", {PRINT, "across/audit"}, {"green/correlations", RATED, "facts/agreement", *JOBS}),
    (HEADLINES, "text: ", "text: Indeed, ", {"across/at_a_glance", "across/which_judge"}, {PRINT, METHOD}),
    (f"notebooks/{PRINT}.md", "", "\nOne more word.\n", {PRINT}, {METHOD, FITTING}),
]


@pytest.mark.parametrize(("file", "old", "new", "reached", "others"), EDITS, ids=[edit[0] for edit in EDITS])
def test_an_edit_reaches_its_users_alone(
    embedded: Copy, file: str, old: str, new: str, reached: set[str], others: set[str]
) -> None:
    stale = embedded.after(file, old, new)
    assert reached <= stale
    assert not others & stale


def test_comments_docstrings_and_layout_reach_nothing(embedded: Copy) -> None:
    added = {EMBEDDED: "# A comment.\n", TEETH: "\n# A comment.\n", f"notebooks/{FITTING}.md": "\nA word.\n"}
    edits = {file: (embedded.path / file).read_text("utf-8") + text for file, text in added.items()}
    first = "from __future__ import annotations\n\n"
    remarked = f"{first}# A comment.\n"
    for file in USERS:
        _, _, code = (embedded.path / file).read_text("utf-8").partition('"""\n')
        edits[file] = f'"""Another docstring."""\n{code.replace(first, remarked)}\n# The end.\n'
    other = "data_manifests/profiles/full.yml"  # of another profile
    edits[other] = (embedded.path / other).read_text("utf-8").replace("resamples: 10000", "resamples: 9999")
    assert embedded.stale({embedded.path / file: text.encode() for file, text in edits.items()}) == set()


def test_a_project_that_was_moved_and_a_data_root_that_was_copied_have_the_same_keys(
    embedded: Copy, public: Copy, tmp_path: Path
) -> None:
    for copy in (embedded, public):
        shutil.copytree(copy.path, tmp_path / copy.profile, ignore=shutil.ignore_patterns("build"))
        root = copy.data_root
        if root is not None:  # other times, other permissions, a file that belongs to no data set
            root = tmp_path / "elsewhere"
            shutil.copytree(copy.data_root, root, copy_function=shutil.copyfile)
            (root / "openi" / "indiana_reports.csv").chmod(0o600)
            (root / "README.md").write_text("Another word.", encoding="utf-8")
        assert Copy(tmp_path / copy.profile, copy.profile, root).keys() == copy.untouched


def test_a_loader_and_a_file_that_changed_reach_their_readers(public: Copy) -> None:
    stale = public.after("radeval_lib/data/radpref.py", "", "EDITED = True\n")
    assert {RATED, "across/which_judge"} <= stale
    assert not {TRAINING, FITTING, SUMMARIZERS, PRINT} & stale
    assert public.data_root is not None
    path = public.data_root / "mts_dialog" / "MTS-Dialog-Manual-Scores4CorrelationStudy.csv"
    stale = public.stale({path: path.read_bytes() + b"\n"})
    assert "facts/real_counts" in stale
    assert not {RATED, TRAINING, METHOD} & stale


def test_a_page_of_arithmetic_rests_on_few_modules() -> None:
    modules = dependencies.modules_of(PRINT, profile("embedded"))
    assert len(modules) <= 55, sorted(modules)
    packages = {name.split(".")[1] for name in modules if "." in name}
    assert not packages & {"metrics", "models", "rules", "roles"}


def test_imports_are_found_in_any_block_but_that_of_types() -> None:
    text = (
        "from typing import TYPE_CHECKING\n"
        "import radeval_lib.a\n"
        "if TYPE_CHECKING:\n    from radeval_lib import never\nelse:\n    import radeval_lib.other\n"
        "if not typing.TYPE_CHECKING:\n    import radeval_lib.always\n"
        "def f():\n    from radeval_lib.b import c as d, e\n"
        "class G:\n    try:\n        import radeval_lib.h\n    except ImportError: pass\n"
    )
    names = {name for name in parse(text.encode(), ".py").names if name.startswith("radeval_lib")}
    assert names == {f"radeval_lib.{name}" for name in ("a", "other", "always", "b.c", "b.e", "h")}
    with pytest.raises(SyntaxError):
        parse(b"from .b import c", ".py")
