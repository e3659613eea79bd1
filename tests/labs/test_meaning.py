"""Sentences that students write to fool a metric are read as they are meant."""

from __future__ import annotations

import pytest

from radeval_lib.labs.meaning import find_findings

FINDINGS = ("pleural effusion", "pneumothorax", "consolidation", "pulmonary edema", "atelectasis")
DENIALS = (
    "There is no {}.",
    "{} is not seen.",
    "{} not found.",
    "{} has not been identified.",
    "{} cannot be seen.",
    "{} couldn't be found.",
    "I can't see any {}.",
    "We did not find {}.",
    "{} is missing.",
    "{}: none.",
    "Nil {}.",
    "Nothing suggests {}.",
    "The scan is negative for {}.",
    "{} is out of the question.",
    "{} doesn't exist.",
    "{} won't be found.",
    "You won't see {}.",
    "{} doesn't seem to be present.",
    "{} does not appear to be there.",
    "{} does not seem likely.",
    "We are unable to find {}.",
    "I doubt there is {}.",
)
STATEMENTS = (
    "There is {}.",
    "There is no doubt that {} is present.",
    "There is no doubt about the {}.",
    "There is no absence of {}.",
    "{} is not absent.",
    "{} cannot be missed.",
    "There is, without a doubt, {}.",
    "There is no longer any doubt: {} is there.",
    "There is no lack of {}.",
    "You can't miss the {}.",
    "It's true that there is {}.",
    "There is no reason to doubt {}.",
)


@pytest.mark.parametrize("finding", FINDINGS)
def test_everyday_wording_is_read_as_it_is_meant(finding: str) -> None:
    (denied,) = find_findings(f"No {finding}.")
    for sentences, presence in ((DENIALS, "absent"), (STATEMENTS, "present")):
        for sentence in sentences:
            text = sentence.format(finding)
            result = {(item.observation, item.presence) for item in find_findings(text[0].upper() + text[1:])}
            assert result == {(denied.observation, presence)}, text


@pytest.mark.parametrize("apostrophe", ["\u2019", "\u2018", "\u00b4"])
def test_an_apostrophe_is_one_however_it_was_typed(apostrophe: str) -> None:
    texts = [sentence.format("pneumothorax") for sentence in DENIALS if "'" in sentence]
    for text in texts:
        assert [item.presence for item in find_findings(text.replace("'", apostrophe))] == ["absent"], text


def test_a_number_denies_each_finding_that_it_counts() -> None:
    for text in ("There are zero effusions and zero pneumothoraces.", "There are 0 pneumothoraces."):
        assert {item.presence for item in find_findings(text)} == {"absent"}, text
    (size,) = find_findings("The nodule is 0.5 cm.")
    assert (size.presence, size.size_mm) == ("present", (5.0,))


def test_doubt_stays_doubt() -> None:
    for text in ("Pneumothorax is not excluded.", "We can't rule out an effusion."):
        assert {item.presence for item in find_findings(text)} == {"uncertain"}, text
