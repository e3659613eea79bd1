"""The 14 CheXpert observations that a plan states."""

from __future__ import annotations

from radeval_lib.rules.generator.records import Denial, Normal, Plan, PlannedFinding
from radeval_lib.rules.lexicon.entries import CHEXPERT, Lexicon

# Of two mentions of an observation the one of the higher rank wins.
_RANK = {None: 0, 0: 1, -1: 2, 1: 3}


def chexpert_labels(lexicon: Lexicon, plan: Plan, chest: bool) -> dict[str, int | None]:
    """1 positive, 0 negative, -1 uncertain, None not mentioned; a stronger mention wins (1, then -1, then 0).

    A suggested diagnosis counts as uncertain. "No Finding" is 1 when, in an examination of the chest, no
    other observation except Support Devices is positive or uncertain (the labeller's own rule, Irvin et al.
    2019), and None otherwise. No observation follows from another one: atelectasis alone does not make Lung
    Opacity.
    """
    labels: dict[str, int | None] = dict.fromkeys(CHEXPERT)

    def mention(name: str | None, value: int) -> None:
        if name is not None and _RANK[value] > _RANK[labels[name]]:
            labels[name] = value

    for statement in plan:
        content = statement.content
        if isinstance(content, PlannedFinding):
            concept = lexicon.concepts[content.concept]
            mention(concept.chexpert, -1 if content.certainty == "uncertain" else 1)
            if content.suggests:
                mention(lexicon.concepts[content.suggests].chexpert, -1)
        elif isinstance(content, Denial):
            for key in content.concepts:
                mention(lexicon.concepts[key].chexpert, 0)
        elif isinstance(content, Normal):
            for name in lexicon.normals[content.key].chexpert:
                mention(name, 1 if content.opposite else 0)
    others = (labels[name] for name in CHEXPERT if name not in ("Support Devices", "No Finding"))
    if chest and not any(value in (1, -1) for value in others):
        labels["No Finding"] = 1
    return labels
