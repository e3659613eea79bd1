"""Cells: what is kept and read back, what is planned, and what a run may read."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from radeval_lib.data.restricted import RestrictedText
from radeval_lib.errors import NotebookError, ParameterError, ResultError
from radeval_lib.paths import PROFILES, ROOT
from radeval_lib.registry import CELL_MODEL
from radeval_lib.study import begin, cell_outputs, cells
from radeval_lib.study.cells import Cell
from radeval_lib.study.profiles import names, profile
from radeval_lib.study.sources import Declared, front_matter

ONE = Cell.of("ratescore/ner_training", scheme="iob", init_model="m", corpus="both", sentences=5)
COUNTS = pd.DataFrame({"case": ["007", "NA", ""], "right": [1, 0, 2], "share": [0.1, float("nan"), 1 / 3]})


def _written(folder: Path, model: bool = False) -> Path:
    folder.mkdir(parents=True)

    def save(where: Path) -> None:
        (where / "weights").write_text("1")

    cell_outputs.write(folder, ONE, {"counts": COUNTS}, {"sizes": {"test": 3}}, save if model else None)
    return folder


def test_a_cell_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    kept = cell_outputs.read(_written(tmp_path / "cell", model=True), ONE, "smoke")
    pd.testing.assert_frame_equal(kept.tables["counts"], COUNTS)
    assert kept.facts["sizes"] == {"test": 3}
    assert kept.model is not None
    assert (kept.model / "weights").read_text() == "1"
    assert cell_outputs.read(_written(tmp_path / "other"), ONE, "smoke").model is None


@pytest.mark.parametrize("values", [["a", None], [1, "a"], [None, None], pd.array([1, None], "Int64")])
def test_a_column_that_would_be_read_back_as_another_is_refused(tmp_path: Path, values) -> None:
    with pytest.raises(ParameterError, match="column 'mixed' of 'counts' could not be read back"):
        cell_outputs.write(tmp_path, ONE, {"counts": pd.DataFrame({"mixed": values})}, {})


@pytest.mark.parametrize(
    ("name", "columns"),
    [("counts", ["a", "a"]), ("counts", []), ("../counts", ["a"]), ("", ["a"])],
    ids=["a name twice", "no column", "another folder", "no name"],
)
def test_a_table_that_would_be_read_back_as_another_is_refused(
    tmp_path: Path, name: str, columns: list[str]
) -> None:
    with pytest.raises(ParameterError, match=f"table {name!r} could not be read back"):
        cell_outputs.write(tmp_path, ONE, {name: pd.DataFrame([[1] * len(columns)], columns=columns)}, {})
    with pytest.raises(ParameterError, match="column 7 of 'counts' could not be read back"):
        cell_outputs.write(tmp_path, ONE, {"counts": pd.DataFrame({7: [1]})}, {})


@pytest.mark.parametrize(
    ("facts", "place"),
    [
        ({"text": RestrictedText("no effusion", "mimic3_rrs")}, "text"),
        (
            {"sizes": {"by part": [{"kept": RestrictedText("no effusion", "mimic3_rrs")}]}},
            "sizes.by part.kept",
        ),
        ({"loss": float("nan")}, "loss"),
        ({"losses": (0.5, float("inf"))}, "losses"),
        ({"sizes": {5: 1}}, "sizes"),
        ({"names": {"a"}}, "names"),
        ({"array": np.array([1])}, "array"),
        ({"seed": np.int64(5)}, "seed"),
    ],
)
def test_a_fact_that_json_does_not_give_back_is_refused_and_not_shown(
    tmp_path: Path, facts: dict, place: str
) -> None:
    with pytest.raises(ParameterError, match=f"fact '{place}' could not be read back") as caught:
        cell_outputs.write(tmp_path, ONE, {}, facts)
    assert "effusion" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_facts_that_json_gives_back_are_kept(tmp_path: Path) -> None:
    facts = {"seeds": (1, 2), "rate": np.float64(0.5), "none": None, "sizes": {"test": [3, True]}, "é": "ü"}
    cell_outputs.write(tmp_path, ONE, {}, facts)
    assert cell_outputs.read(tmp_path, ONE, "smoke").facts.items() >= {**facts, "seeds": [1, 2]}.items()


def test_large_whole_numbers_are_read_back(tmp_path: Path) -> None:
    table = pd.DataFrame({"n": np.array([2**63 + 1], dtype="uint64")})
    cell_outputs.write(tmp_path, ONE, {"counts": table}, {})
    pd.testing.assert_frame_equal(cell_outputs.read(tmp_path, ONE, "smoke").tables["counts"], table)


def test_a_carriage_return_ends_no_row(tmp_path: Path) -> None:
    table = pd.DataFrame({"text": ["a\rb", "c\nd"], "n": [1, 2]})
    cell_outputs.write(tmp_path, ONE, {"counts": table}, {})
    pd.testing.assert_frame_equal(cell_outputs.read(tmp_path, ONE, "smoke").tables["counts"], table)


@pytest.mark.parametrize("name", ["tables", "seed", cell_outputs.MISSING_DATA])
def test_a_fact_with_a_name_that_is_taken_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ParameterError, match=f"may not be called '{name}'"):
        cell_outputs.write(tmp_path, ONE, {"counts": COUNTS}, {name: 1}, provenance={"seed": 5})


def test_two_cells_of_one_folder_are_refused() -> None:
    with pytest.raises(ParameterError, match="two cells are called 'iob-m-both-5'"):
        cells._all_distinct([ONE, Cell.of("ratescore/ner_ablations"), ONE])


@pytest.mark.parametrize("damaged", ["counts.csv", "model/weights"])
def test_a_cell_that_is_missing_or_damaged_is_reported(tmp_path: Path, damaged: str) -> None:
    with pytest.raises(ResultError, match=r"not made yet.*ner_training -p scheme iob .*-p profile smoke"):
        cell_outputs.read(tmp_path / "none", ONE, "smoke")
    folder = _written(tmp_path / "cell", model=True)
    (folder / damaged).write_text("else")
    with pytest.raises(ResultError, match="missing or was changed"):
        cell_outputs.read(folder, ONE, "smoke")
    (folder / damaged).unlink()
    with pytest.raises(ResultError, match="missing or was changed"):
        cell_outputs.read(folder, ONE, "smoke")
    (folder / cell_outputs.FACTS).write_text('{"half": ')
    with pytest.raises(ResultError, match="cut short"):
        cell_outputs.read(folder, ONE, "smoke")


def test_slugs_tell_cells_apart_and_are_names_of_folders() -> None:
    plain = Cell.of("a/b", x="iob", n=3)
    assert plain.slug == "iob-3"
    texts = ("a:b", "a_b", "a/b", "../x", "..", ".", "x" * 200, "x" * 201, "")
    odd = [Cell.of("a/b", x=text) for text in texts]
    assert not {".", ".."} & {cell.slug for cell in odd}
    assert len({cell.slug for cell in odd}) == len(odd)
    assert all("/" not in cell.slug and len(cell.slug) < 100 for cell in odd)
    assert Cell.of("a/b").slug == "only"


@pytest.mark.parametrize("name", names())
def test_every_plan_can_be_made_for_every_profile(name: str) -> None:
    planned = cells.planned(profile(name))
    assert len({(cell.notebook, cell.slug) for cell in planned}) == len(planned)
    for filler in profile(name).models.values():
        if filler.startswith(CELL_MODEL):
            assert cells.planned_of(profile(name), filler.removeprefix(CELL_MODEL))


def test_a_notebook_without_cells_is_reported() -> None:
    with pytest.raises(ParameterError, match=r"plans no cell of 'facts/agreement'"):
        cells.planned_of(profile("smoke"), "facts/agreement")


def test_a_model_role_needs_its_cell_first(tmp_path: Path) -> None:
    run = begin("ratescore/rated_pairs", profile="smoke", seed=0, output_dir=str(tmp_path))
    assert run.model("encoder") == "packaged-minilm-2"
    with pytest.raises(NotebookError, match=r"'oracle' is not among the models"):
        run.model("oracle")


def test_reading_what_is_not_declared_is_an_error(tmp_path: Path) -> None:
    run = begin("ratescore/rated_pairs", profile="smoke", seed=0, output_dir=str(tmp_path))
    with pytest.raises(NotebookError, match=r"'ratescore/ner_training' is not among the cells.*front matter"):
        run.cells("ratescore/ner_training")


def test_front_matter_is_read_and_unknown_keys_are_reported() -> None:
    assert front_matter("no head") == {}
    with pytest.raises(ValueError, match="not a mapping of keys"):
        front_matter("---\n- a\n---\n")
    head = front_matter("---\nstudy:\n  cells: [a/b]\n---\n# Title\n")
    assert Declared.model_validate(head["study"]).cells == ("a/b",)
    assert Declared.model_validate({"trains": True}).uses_models
    with pytest.raises(ValueError, match="cell"):
        Declared.model_validate({"cell": ["a/b"]})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("sizes: {reprots: 5}", r"unknown role 'reprots'\. Did you mean 'reports'\?"),
        (
            "roles: {rated_pairs: toy_mark}",
            "roles, rated_pairs: no data set 'toy_mark'. Give one of",
        ),
        ("roles: {rated_pairs: radpreff}", r"no data set 'radpreff'\. Did you mean 'radpref'\?"),
        ("roles: {rated_pairs: radpref/grade+opnei}", r"no data set 'opnei'\. Did you mean 'openi'\?"),
        ("roles: {rated_pairs: recorded/rexval/total}", r"no stored set 'rexval'"),
        ("roles: {reports: sinthetic}", r"no data set 'sinthetic'\. Did you mean 'synthetic'\?"),
        ("sizes: {reports: -1}", "sizes.reports"),
        ("colour: red", "unknown key 'colour'"),
        ("threads: 0", "threads"),
        ("device: tpu", "device"),
        ("[", "this is not YAML"),
        ("name: mine", "unknown key 'name'"),
    ],
)
def test_a_profile_with_a_mistake_is_reported(text: str, told: str, monkeypatch, tmp_path: Path) -> None:
    from radeval_lib.errors import ProfileError
    from radeval_lib.study import profiles

    for path in PROFILES.glob("*.yml"):
        (tmp_path / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "mine.yml").write_text(f"extends: smoke\n{text}\n", encoding="utf-8")
    monkeypatch.setattr(profiles, "PROFILES", tmp_path)
    with pytest.raises(ProfileError, match=told):
        profiles.profile.__wrapped__("mine")


def test_roles_of_full_can_be_filled_otherwise_in_a_profile_of_ones_own(monkeypatch, tmp_path: Path) -> None:
    from radeval_lib.study import profiles

    for path in PROFILES.glob("*.yml"):
        (tmp_path / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    told = (ROOT / "book" / "reproduce.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```yaml\n(extends: full\n.*?)```", told, re.DOTALL)
    (tmp_path / "mine.yml").write_text(example, encoding="utf-8")
    monkeypatch.setattr(profiles, "PROFILES", tmp_path)
    full, mine = (profiles.profile.__wrapped__(name) for name in ("full", "mine"))
    changed = {"stanza_corpus": "synthetic", "procedures": "synthetic"}
    assert mine.roles == full.roles | changed
    assert cells.planned(mine) == cells.planned(full)


def test_profiles_that_extend_each_other_are_reported(monkeypatch, tmp_path: Path) -> None:
    from radeval_lib.errors import ProfileError
    from radeval_lib.study import profiles

    (tmp_path / "one.yml").write_text("extends: other\n", encoding="utf-8")
    (tmp_path / "other.yml").write_text("extends: one\n", encoding="utf-8")
    monkeypatch.setattr(profiles, "PROFILES", tmp_path)
    with pytest.raises(ProfileError, match="one -> other -> one"):
        profiles.profile.__wrapped__("one")


def test_a_section_with_a_misspelt_key_is_reported() -> None:
    from radeval_lib.errors import ProfileError
    from radeval_lib.jobs.ratescore import plan

    smoke = profile("smoke")
    wrong = {**smoke.experiments["ratescore"], "trails": 3}
    with pytest.raises(ProfileError, match="unknown key 'trails'"):
        plan.settings(smoke.model_copy(update={"experiments": {"ratescore": wrong}}))
