"""Write the pairs of annotations on which the package radgraph is recorded: every edge case by hand, and
pairs of generated reports with errors.

    python tests/reference/make_radgraph_pairs.py
"""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

from radeval_lib.data.generated import radgraph_json
from radeval_lib.data.radgraph import annotation
from radeval_lib.rules.generator import error_pairs

HERE = Path(__file__).resolve().parent / "radgraph"

Entities = list[tuple[str, str]]
Links = list[tuple[int, str, int]]

EDEMA: Entities = [("mild", "OBS-DP"), ("edema", "OBS-DP"), ("lungs", "ANAT-DP")]
LINKS: Links = [(0, "modify", 1), (1, "located_at", 2)]

BY_HAND: dict[str, tuple[tuple[Entities, Links], tuple[Entities, Links]]] = {
    "identical": ((EDEMA, LINKS), (EDEMA, LINKS)),
    "identical without relations": ((EDEMA, []), (EDEMA, [])),
    "both empty": (([], []), ([], [])),
    "reference empty": (([], []), (EDEMA, LINKS)),
    "candidate empty": ((EDEMA, LINKS), ([], [])),
    "nothing common": ((EDEMA, LINKS), ([("clear", "OBS-DP")], [])),
    "capital with a relation": ((EDEMA, LINKS), ([("Mild", "OBS-DP"), *EDEMA[1:]], LINKS)),
    "capital without a relation": ((EDEMA, []), ([("Mild", "OBS-DP"), *EDEMA[1:]], [])),
    "capital in the tail": ((EDEMA, LINKS), ([*EDEMA[:2], ("Lungs", "ANAT-DP")], LINKS)),
    "all capitals": ((EDEMA, LINKS), ([(words.upper(), label) for words, label in EDEMA], LINKS)),
    "case makes duplicates": (
        ([("Edema", "OBS-DP"), ("edema", "OBS-DP")], []),
        ([("edema", "OBS-DP"), ("EDEMA", "OBS-DP")], []),
    ),
    "case makes duplicates of relations": (
        ([("Mild", "OBS-DP"), ("mild", "OBS-DP"), ("edema", "OBS-DP")], [(0, "modify", 2), (1, "modify", 2)]),
        ([("mild", "OBS-DP"), ("edema", "OBS-DP")], [(0, "modify", 1)]),
    ),
    "duplicates": ((EDEMA, LINKS), ([*EDEMA, *EDEMA], [*LINKS, (3, "modify", 4), (4, "located_at", 5)])),
    "duplicate, one with a relation": (
        ([("edema", "OBS-DP"), ("edema", "OBS-DP"), ("lungs", "ANAT-DP")], [(0, "located_at", 2)]),
        ([("edema", "OBS-DP"), ("lungs", "ANAT-DP")], [(0, "located_at", 1)]),
    ),
    "the same relation twice": ((EDEMA, LINKS), (EDEMA, [*LINKS, LINKS[0]])),
    "other label": ((EDEMA, LINKS), ([EDEMA[0], ("edema", "OBS-DA"), EDEMA[2]], LINKS)),
    "other label of the tail": ((EDEMA, LINKS), ([*EDEMA[:2], ("lungs", "OBS-DP")], LINKS)),
    "other type of relation": ((EDEMA, LINKS), (EDEMA, [LINKS[0], (1, "suggestive_of", 2)])),
    "turned relation": ((EDEMA, LINKS), (EDEMA, [LINKS[0], (2, "located_at", 1)])),
    "relation missing": ((EDEMA, LINKS), (EDEMA, LINKS[:1])),
    "two relations of one entity": (
        (EDEMA, LINKS),
        (EDEMA, [(0, "modify", 1), (0, "modify", 2), (1, "located_at", 2)]),
    ),
    "relation to itself": ((EDEMA, LINKS), (EDEMA, [*LINKS, (2, "modify", 2)])),
    "circle": ((EDEMA, [*LINKS, (2, "modify", 0)]), (EDEMA, LINKS)),
    "several words": (
        ([("chest tube", "OBS-DP"), ("left", "ANAT-DP")], [(0, "located_at", 1)]),
        ([("chest", "OBS-DP"), ("tube", "OBS-DP"), ("left", "ANAT-DP")], [(1, "located_at", 2)]),
    ),
    "labels of RadGraph-XL": (
        (
            [("edema", "Observation::definitely present"), ("lungs", "Anatomy::definitely present")],
            [(0, "located_at", 1)],
        ),
        (
            [("edema", "Observation::uncertain"), ("lungs", "Anatomy::definitely present")],
            [(0, "located_at", 1)],
        ),
    ),
    "letters beyond ASCII": (
        ([("Ödem", "OBS-DP"), ("İ", "OBS-DP"), ("µm", "OBS-DP")], [(0, "modify", 1)]),
        ([("ödem", "OBS-DP"), ("i̇", "OBS-DP"), ("μm", "OBS-DP")], [(0, "modify", 1)]),
    ),
}


def annotated(entities: Entities, links: Links) -> dict[str, Any]:
    words: list[str] = []
    spans = []
    for text, label in entities:
        spans.append((len(words), len(words) + len(text.split()), label))
        words += text.split()
    return annotation(words, spans, [(head, tail, kind) for head, kind, tail in links])


def main() -> None:
    pairs = [
        {"name": name, "reference": annotated(*reference), "candidate": annotated(*candidate)}
        for name, (reference, candidate) in BY_HAND.items()
    ]
    missing = 50 - len(pairs)
    pairs += [
        {
            "name": f"generated {number}",
            "reference": radgraph_json(pair.reference.findings),
            "candidate": radgraph_json(pair.candidate.findings),
        }
        for number, pair in enumerate(islice(error_pairs(missing, seed=7), missing), start=1)
    ]
    HERE.mkdir(exist_ok=True)
    text = json.dumps(pairs, indent=None, ensure_ascii=False, separators=(",", ":")).replace(
        '{"name"', '\n{"name"'
    )
    (HERE / "pairs.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
