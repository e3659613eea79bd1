"""A build that shows restricted text fails and leaves no page behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from radeval_lib.data import guard
from radeval_lib.paths import BOOK
from radeval_lib.pipeline import book
from tests.pipeline.conftest import RECORDS, TinyRepository

SECRET = (
    "There is a moderate left pleural effusion with adjacent compressive atelectasis, larger than on the "
    "prior examination of the same day, while the right lung remains well aerated throughout."
)


def restricted_data(tiny: TinyRepository) -> Path:
    """Return a data root of the tiny repository that holds one restricted report."""
    root = tiny.path / "data"
    (root / "mediqa2021").mkdir(parents=True)
    report = {"study_id": "1", "subject_id": "1", "findings": SECRET, "impression": "Effusion."}
    report["background"] = ""
    (root / "mediqa2021" / "train.json").write_text(json.dumps([report]), encoding="utf-8")
    # The guard reads what the study generates until it says all that was found: of a leak, to its end.
    book, whole = tiny.path / "radeval_lib" / "pipeline" / "book.py", "_GENERATED = 20_000"
    source = book.read_text(encoding="utf-8")
    assert whole in source
    book.write_text(source.replace(whole, "_GENERATED = 200"), encoding="utf-8")
    return root


def test_a_planted_leak_fails_the_build_and_names_the_page(tiny: TinyRepository) -> None:
    root = restricted_data(tiny)
    tiny.write("facts/two", RECORDS.format(exhibit="facts.table2") + f"\nprint({SECRET!r})")

    leaking = tiny.radbook("build", "--data-root", str(root))
    output = leaking.stdout + leaking.stderr
    assert leaking.returncode == 2
    assert "facts/two" in output
    assert "mediqa2021_mimic_cxr" in output
    assert "pleural effusion" not in output
    assert not (tiny.build / "_build").exists()
    for path in tiny.build.rglob("*"):
        assert not path.is_file() or b"pleural effusion" not in path.read_bytes(), path


@pytest.mark.nightly
def test_a_book_beside_restricted_data_builds(tiny: TinyRepository) -> None:
    built = tiny.radbook("build", "--data-root", str(restricted_data(tiny)))
    assert built.returncode == 0, built.stdout + built.stderr


def test_what_a_failing_cell_says_of_restricted_data_is_withheld(tiny: TinyRepository) -> None:
    root = restricted_data(tiny)
    reading = "from radeval_lib.data import readers\n\n"
    reading += "pair = readers.load('mediqa2021_mimic_cxr', run.data_root)[0]"
    tiny.write("facts/one", f"{reading}\nprint(pair.findings.reveal())\nfloat(pair.findings.reveal())")
    failed = tiny.radbook("run", "facts/one", "--data-root", str(root))
    assert failed.returncode == 2
    kept = (tiny.build / "executed" / "facts" / "one.failed.ipynb").read_text(encoding="utf-8")
    for text in (failed.stdout + failed.stderr, kept):
        assert "Withheld" in text
        assert "atelectasis" not in text


def test_what_pages_of_the_book_say_is_no_leak_of_alike_reports(tmp_path: Path) -> None:
    (tmp_path / "ratings.html").write_text((BOOK / "own.md").read_text(encoding="utf-8"), encoding="utf-8")
    corpora = {"our_ratings": ["Right rib fracture. Acute fracture of a right rib."]}
    assert guard.scan(tmp_path, corpora)
    assert not guard.scan(tmp_path, corpora, book.example_texts())
