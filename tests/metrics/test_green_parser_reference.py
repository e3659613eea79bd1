"""The parser against what the released one read from 300 answers (``tests/reference/green/parser.json``)."""

import json
from pathlib import Path

from radeval_lib.metrics.green import clean, parse

ROWS = json.loads(
    (Path(__file__).parents[1] / "reference" / "green" / "parser.json").read_text(encoding="utf-8")
)


def test_reference_mode_reads_what_the_released_parser_reads():
    assert len(ROWS) == 300
    for row in ROWS:
        read = parse(clean(row["answer"]), "reference")
        found = [list(read.significant), list(read.insignificant), read.matched, read.score]
        assert found == row["released"]
    # No answer has a list below a section that begins with "No", which the released parser leaves unread.
    left = "[Clinically Significant Errors]:\nNo grave ones.\n(a) False report: 2. x; y\n\n"
    read = parse(f"{left}[Matched Findings]:\n3. a; b; c", "reference")
    assert (sum(read.significant), read.matched, read.score) == (0, 3, 1.0)


def test_strict_mode_scores_a_damaged_answer_as_it_was_meant_or_not_at_all():
    scored = refused = misread = 0
    for row in ROWS:
        strict = parse(clean(row["answer"]), "strict")
        if strict.score is None:
            refused += 1
            continue
        scored += 1
        significant, _, matched = row["intact"]  # the score needs no insignificant errors
        assert [list(strict.significant), strict.matched] == [significant, matched]
        misread += row["released"][:1] != [significant]
    assert scored >= 60
    assert refused >= 60
    assert misread > 0  # answers that a careful reader can use and the released parser reads wrongly
