"""Plain edits of reports, and what they cost."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from notebooks.across import fingerprints
from radeval_lib import metrics, study
from radeval_lib.data.records import Report
from radeval_lib.data.report_edits import EDITS, LAYOUTS, WORDINGS, edit_reports, split_reports

REST_PARTS = ["Heart is normal", "Left rib.", "Lungs clear.", "Bones intact."]
PARTS = ["No pleural effusion.", "Mild edema.", *REST_PARTS]
REST = "Heart is normal. Left rib. Lungs clear. Bones intact."
EXTRA = "Right lower lobe pneumonia."


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        ("a “no” lost", f"Pleural effusion. Mild edema. {REST}"),
        ("left for right", f"No pleural effusion. Mild edema. {REST}".replace("Left", "Right")),
        ("mild for severe", f"No pleural effusion. Severe edema. {REST}"),
        ("a sentence left out", f"No pleural effusion. Mild edema. {REST}".replace("Heart is normal. ", "")),
        ("order reversed", " ".join(f"{part.rstrip('.')}." for part in reversed(PARTS))),
        ("a sentence twice", f"No pleural effusion. No pleural effusion. Mild edema. {REST}"),
        ("in other words", None),
    ],
)
def test_an_edit_does_what_it_says(edit: str, text: str | None) -> None:
    assert EDITS[edit](PARTS, EXTRA) == text


def test_only_a_denial_at_the_head_of_a_sentence_is_taken_back() -> None:
    there = ["There is no evidence of pneumothorax."]
    assert EDITS["a “no” lost"](there, "") == "There is evidence of pneumothorax."
    assert EDITS["a “no” lost"](["Lungs are clear without focal consolidation."], "") is None


def test_reports_need_six_sentences_and_count_once() -> None:
    whole, short = " ".join(PARTS).replace("normal L", "normal. L"), "Normal. Clear."
    reports = [Report(str(n), text, "") for n, text in enumerate([whole, short, whole])]
    assert [len(parts) for parts in split_reports(reports)] == [6]


def test_costs_are_shares_of_what_another_report_costs(tmp_path: object) -> None:
    run = study.begin("across/fingerprints", profile="smoke", seed=0, output_dir=str(tmp_path))
    others = [f"Finding {word} is new." for word in ("one", "two", "three", "four", "five", "six")]
    pairs = edit_reports([PARTS, others])
    assert pairs["edit"].value_counts()["same"] == 2
    frame = fingerprints.compute_losses({"BLEU": metrics.create("bleu")}, pairs)
    assert frame.loc[frame["edit"] == "same", "BLEU"].tolist() == [0, 0]
    set_index = fingerprints.compute_costs(frame, ["6", "a sentence twice"], run).set_index("edit")
    assert set_index.loc["6", ["value", "low", "high"]].tolist() == pytest.approx([1, 1, 1])
    wide = frame.pivot(index="report", columns="edit", values="BLEU")
    wanted = wide["a sentence twice"].sum() / wide["another report"].sum()
    assert np.isclose(set_index.loc["a sentence twice", "value"], wanted)


def test_layouts_keep_every_word() -> None:
    for name, edit in LAYOUTS.items():
        words = (edit(PARTS, EXTRA) or "").lower().replace("findings:", "").replace("- ", "").split()
        assert [word.strip(".") for word in words] == [
            word.strip(".") for part in PARTS for word in part.lower().split()
        ], name


def test_a_lost_denial_is_worth_its_loss_over_that_of_a_word() -> None:
    run = SimpleNamespace(profile=SimpleNamespace(resamples=9), rng=lambda name: np.random.default_rng(0))
    # Two reports lose a "no" at 0.3; one exchanges two words for 0.4 together, the other one word for 0.2.
    rows = [(0, fingerprints.LOST, 0.3), (1, fingerprints.LOST, 0.3), (2, fingerprints.LOST, 9.0)]
    rows += [(0, fingerprints.EXCHANGED[0], 0.1), (0, fingerprints.EXCHANGED[1], 0.4)]
    rows += [(1, fingerprints.EXCHANGED[0], 0.2), (3, fingerprints.EXCHANGED[2], 9.0)]
    frame = pd.DataFrame(rows, columns=["report", "edit", "m"])
    result = fingerprints.compute_words_per_no(frame, run).loc["m"]  # type: ignore[arg-type]
    assert (result["value"], result["n"]) == (pytest.approx(0.3 / (0.6 / 3)), 2)
    free = frame.assign(m=frame["m"].where(frame["edit"] == fingerprints.LOST, 0.0))
    assert fingerprints.compute_words_per_no(free, run).loc["m", "value"] == np.inf  # type: ignore[arg-type]


DENIAL = ["No pleural effusion.", "No acute abnormality is seen.", "Osseous structures are unremarkable."]


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (fingerprints.LOST, f"{DENIAL[0]} Acute abnormality is seen. {DENIAL[2]}"),
        (fingerprints.SOME, f"{DENIAL[0]} Some acute abnormality is seen. {DENIAL[2]}"),
        (fingerprints.NEIGHBOUR, f"{DENIAL[0]} No acute abnormality is identified. {DENIAL[2]}"),
        (
            fingerprints.EXCHANGED[1],
            f"{DENIAL[0]} No acute abnormality is identified. Bony structures are unremarkable.",
        ),
        ("in other words", f"{DENIAL[0]} No acute abnormality is identified. Bony structures are normal."),
    ],
)
def test_words_are_exchanged_one_for_one(edit: str, text: str) -> None:
    assert (EDITS | WORDINGS)[edit](DENIAL, EXTRA) == text
    assert WORDINGS[fingerprints.EXCHANGED[2]](DENIAL[:2], EXTRA) is None
