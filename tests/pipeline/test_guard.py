"""A build that shows restricted text fails and leaves no page behind."""

from __future__ import annotations

import json

from tests.pipeline.conftest import RECORDS, TinyRepository

SECRET = (
    "There is a moderate left pleural effusion with adjacent compressive atelectasis, larger than on the "
    "prior examination of the same day, while the right lung remains well aerated throughout."
)


def test_a_planted_leak_fails_the_build_and_names_the_page(tiny: TinyRepository) -> None:
    root = tiny.path / "data"
    (root / "mediqa2021").mkdir(parents=True)
    report = {"study_id": "1", "subject_id": "1", "findings": SECRET, "impression": "Effusion."}
    report["background"] = ""
    (root / "mediqa2021" / "train.json").write_text(json.dumps([report]), encoding="utf-8")
    tiny.write("facts/two", RECORDS.format(exhibit="facts.table2") + f"\nprint({SECRET!r})")

    leaking = tiny.radbook("build", "--data-root", str(root))
    told = leaking.stdout + leaking.stderr
    assert leaking.returncode == 2
    assert "facts/two" in told
    assert "mediqa2021_mimic_cxr" in told
    assert "pleural effusion" not in told
    assert not (tiny.build / "_build").exists()

    tiny.write("facts/two", RECORDS.format(exhibit="facts.table2"))
    clean = tiny.radbook("build", "--data-root", str(root))
    assert clean.returncode == 0, clean.stdout + clean.stderr
