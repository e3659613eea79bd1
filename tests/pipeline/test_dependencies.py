"""What is redone after an edit: the steps whose numbers the edit can move, and no others."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from radeval_lib.errors import NotebookError
from radeval_lib.study.dependencies import digest_of_file, parsed
from radeval_lib.study.sources import code_of
from tests.pipeline.edits import Copy

TRAINING, RATED, METHOD = "ratescore/ner_training", "ratescore/rated_pairs", "ratescore/correlations"
SUMMARIZERS, GRAPHS, FITTING = "summarization/training", "summarization/graph_training", "rales/fitting"
PRINT = "rales/nlu_scores"


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    return Copy.into(tmp_path_factory.mktemp("embedded"))


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory, data_root: Path) -> Copy:
    """The profile ``open`` over a data root of its own."""
    root = tmp_path_factory.mktemp("root") / "data"
    shutil.copytree(data_root, root, copy_function=shutil.copyfile)
    for folder, _, files in os.walk(root):
        for path in (Path(folder), *(Path(folder) / name for name in files)):
            path.chmod(0o755)
    return Copy.into(tmp_path_factory.mktemp("open"), "open", root)


def _notebooks(steps: set[str]) -> set[str]:
    """Return the notebooks of steps, cells by theirs."""
    return {"/".join(name.split("/")[:2]) for name in steps}


# By file: the notebooks that a change of what it does reaches, and some that it does not, on generated data.
USERS = {
    "radeval_lib/rules/generator/clauses.py": ({TRAINING}, {PRINT}),
    "radeval_lib/tables.py": ({METHOD}, {TRAINING}),
    "radeval_lib/metrics/bleu.py": ({RATED}, {TRAINING}),
    "radeval_lib/models/graph/model.py": ({GRAPHS}, {METHOD}),
    "radeval_lib/models/ner/schemes.py": ({TRAINING}, {"rales/datasets"}),
    "radeval_lib/stats/calibration.py": ({"rales/calibration"}, {RATED}),
    "radeval_lib/study/display.py": ({METHOD}, {TRAINING}),
    "radeval_lib/jobs/rales_tasks.py": ({FITTING}, {TRAINING}),
    "radeval_lib/data/mts_dialog.py": ({"facts/real_counts"}, {RATED}),
    "radeval_lib/data/radpref.py": ({RATED, "across/which_judge"}, {TRAINING, FITTING, PRINT}),
    "radeval_lib/jobs/summarization.py": ({SUMMARIZERS}, {FITTING}),
}
JOBS = {TRAINING, SUMMARIZERS, GRAPHS, FITTING}
TEETH, EMBEDDED = "radeval_lib/rules/lexicon/regions/teeth.yml", "data_manifests/profiles/embedded.yml"
TABLE, HEADLINES = "data_manifests/papers/rales/table3.csv", "data_manifests/headlines.yml"
EDITS = [
    *((file, "", "EDITED = True\n", *reached) for file, reached in USERS.items()),
    (TEETH, "common: 0.8", "common: 0.7", {TRAINING}, {PRINT, METHOD, "rales/domain_and_size"}),
    (EMBEDDED, "text_pairs: 200", "text_pairs: 201", {"ratescore/how_it_works"}, {RATED, *JOBS, METHOD}),
    (EMBEDDED, "ner_corpus: 600", "ner_corpus: 601", {TRAINING}, JOBS - {TRAINING}),
    (EMBEDDED, "resamples: 2000", "resamples: 1999", {RATED}, JOBS),
    (TABLE, "", "\n", {PRINT, "across/audit"}, {"green/correlations", RATED, "facts/agreement", *JOBS}),
    (HEADLINES, "text: ", "text: Indeed, ", {"across/at_a_glance", "across/which_judge"}, {PRINT, METHOD}),
    (f"notebooks/{PRINT}.md", "", "\nOne more word.\n", {PRINT}, {METHOD, FITTING}),
]


@pytest.mark.parametrize(("file", "old", "new", "reached", "others"), EDITS, ids=[edit[0] for edit in EDITS])
def test_an_edit_reaches_its_users_alone(
    embedded: Copy, file: str, old: str, new: str, reached: set[str], others: set[str]
) -> None:
    stale = _notebooks(embedded.stale(file, old, new))
    assert reached <= stale
    assert not others & stale


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (EMBEDDED, "# The default", "# Our default"),
        ("data_manifests/profiles/full.yml", "resamples: 10000", "resamples: 9999"),
        (f"notebooks/{FITTING}.md", "", "\nOne more word.\n"),
        (TEETH, "", "\n# A comment.\n"),
    ],
)
def test_what_moves_no_number_reaches_nothing(embedded: Copy, file: str, old: str, new: str) -> None:
    assert embedded.stale(file, old, new) == set()


def test_comments_docstrings_and_layout_reach_nothing(embedded: Copy) -> None:
    first = "from __future__ import annotations\n"
    kept = {}
    for file in USERS:  # all at once: none may count
        path = embedded.path / file
        kept[path] = path.read_text(encoding="utf-8")
        text = kept[path].replace(first, f"{first}\n\n# A comment.\n")
        body = text.partition('"""\n')[2]
        path.write_text(f'"""Another docstring."""\n{body}\n# The end.\n', encoding="utf-8")
    try:
        assert embedded.graph()["keys"] == embedded.untouched["keys"]
    finally:
        for path, text in kept.items():
            path.write_text(text, encoding="utf-8")


def test_a_loader_reaches_those_whose_roles_it_fills(public: Copy) -> None:
    stale = _notebooks(public.stale("radeval_lib/data/radpref.py", "", "EDITED = True\n"))
    assert {RATED, "across/which_judge"} <= stale
    assert not {TRAINING, FITTING, SUMMARIZERS, PRINT} & stale


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
        moved = Copy(tmp_path / copy.profile, copy.profile, root)
        assert moved.graph()["keys"] == copy.untouched["keys"]


def test_a_file_that_changed_reaches_its_readers(public: Copy) -> None:
    assert public.data_root is not None
    path = public.data_root / "mts_dialog" / "MTS-Dialog-Manual-Scores4CorrelationStudy.csv"
    before, content = public.untouched["keys"], path.read_bytes()
    path.write_bytes(content + b"\n")
    try:
        after = public.graph()["keys"]
    finally:
        path.write_bytes(content)
    stale = _notebooks({name for name in before if before[name] != after[name]})
    assert "facts/real_counts" in stale
    assert not {RATED, TRAINING, METHOD} & stale


def test_a_page_of_arithmetic_rests_on_few_modules() -> None:
    from radeval_lib.study import dependencies
    from radeval_lib.study.profiles import profile

    modules = dependencies.modules_of(PRINT, profile("embedded"))
    assert len(modules) <= 55, sorted(modules)
    packages = {name.split(".")[1] for name in modules if "." in name}
    assert not packages & {"metrics", "models", "rules", "roles"}


def test_imports_are_found_in_any_block_but_that_of_types() -> None:
    text = (
        "from typing import TYPE_CHECKING\n"
        "import radeval_lib.a\n"
        "if TYPE_CHECKING:\n    from radeval_lib import never\nelse:\n    import radeval_lib.other\n"
        "def f():\n    from radeval_lib.b import c as d, e\n"
        "class G:\n    try:\n        import radeval_lib.h\n    except ImportError: pass\n"
    )
    wanted = {"radeval_lib.a", "radeval_lib.other", "radeval_lib.b.c", "radeval_lib.b.e", "radeval_lib.h"}
    assert {name for name in _names(text) if name.startswith("radeval_lib")} == wanted


def test_the_code_of_a_page_is_its_cells_without_options() -> None:
    text = "\n".join(
        [
            *("# Title", "```python", "import no", "```"),
            *("```{code-cell} ipython3", ":tags: [parameters]", "", "a = 1", "```"),
            *("```{code-cell} ipython3", "---", "mystnb: {}", "---", "b = '''", "text'''", "```"),
        ]
    )
    assert code_of(text).split() == ["a", "=", "1", "b", "=", "'''", "text'''"]
    cell = "a = 'b\fc\u2028d'"  # characters that end no line
    assert code_of(f"```{{code-cell}}\n{cell}\n```\n") == f"{cell}\n"
    for unended in ("```{code-cell}\na = 1\n", "```{code-cell}\n---\ntags: [b]\na = 1\n```\n"):
        with pytest.raises(NotebookError):
            code_of(unended)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("x: 2020-01-01", 'x: "2020-01-01"', False),
        ("x: 1", "x: true", False),
        ("{a: 1, b: 2}", "{b: 2, a: 1}", False),
        ("{a: 1, b: [x]}", "# a comment\na: 1\nb:\n- x", True),
    ],
)
def test_yaml_files_have_one_digest_if_they_hold_the_same(
    first: str, second: str, same: bool, tmp_path: Path
) -> None:
    files = [tmp_path / "first.yml", tmp_path / "second.yml"]
    for file, text in zip(files, (first, second), strict=True):
        file.write_text(text, encoding="utf-8")
    assert (digest_of_file(files[0]) == digest_of_file(files[1])) == same


def _names(text: str) -> set[str]:
    return set(parsed(text.encode(), ".py").names)


def test_what_type_checkers_alone_import_is_not_imported() -> None:
    text = "from typing import TYPE_CHECKING\nif {}:\n    import a.b\nelse:\n    import c\n"
    assert "a.b" not in _names(text.format("TYPE_CHECKING"))
    assert "c" in _names(text.format("typing.TYPE_CHECKING"))
    assert "a.b" in _names(text.format("not TYPE_CHECKING"))
    used = "if TYPE_CHECKING:\n    from a import b\nelse:\n    from c import d\nd.e()\nb.f()\n"
    assert _names(used) == {"c.d", "c.d.e"}
    with pytest.raises(SyntaxError):
        parsed(b"from .b import c", ".py")
