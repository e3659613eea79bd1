"""Every sentence that the library makes for a page, in each of its branches, against a file for reading.

``python -m tests.test_sentences`` writes ``tests/sentences.txt`` anew; read what changed, then commit it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from radeval_lib.pages.facts import consultation_notes, granularity, mtsamples
from radeval_lib.pages.facts import real_counts as facts
from radeval_lib.pages.facts.rates import Shared
from radeval_lib.pages.facts.real_counts import LENGTH
from radeval_lib.pages.green import sentences as green
from radeval_lib.pages.green.other_modalities import modification_prompt
from radeval_lib.pages.green.preferences import conclusion as preferred
from radeval_lib.pages.green.rules_judge import Recognition, synonym_words
from radeval_lib.pages.ratescore.sentences import (
    about_recovery,
    as_said_words,
    beside,
    copying_words,
    least_seen_words,
)
from radeval_lib.papers.demonstrations import Contrast
from radeval_lib.paths import ROOT
from radeval_lib.stats.estimates import Estimate
from radeval_lib.study import conclusions, display, pages
from radeval_lib.study.checks import Check
from radeval_lib.study.results import Result
from radeval_lib.study.superiority import Lead
from radeval_lib.study.verdicts import kind, outcome, verdict

READ = Path(__file__).with_name("sentences.txt")
REMEDIES = {
    "study.declarations._read",
    "study.profiles.profile",
    "study.results.read",
}  # remedies of errors, which the tests of those errors read
AHEAD, BEHIND, LEVEL = Estimate(0.1, 0.05, 0.2), Estimate(-0.1, -0.2, -0.05), Estimate(0.0, -0.1, 0.1)


def _check(result: str, aspect: str = "", number: int = 0) -> Check:
    return Check(f"{aspect or 'check'} {number}", "1", "2", result, aspect=aspect)


def _result(evidence: str, *found: str, remaining: str = "", stand_in: str = "", aspect: str = "") -> str:
    aspects = aspect.split()
    checks = tuple(
        _check(one, aspects[n % len(aspects)] if aspects else "", n) for n, one in enumerate(found)
    )
    came = outcome(found, remaining, shape=kind(evidence, stand_in) == "stand-ins")
    word = verdict(evidence, stand_in, came)
    result = Result(
        "facts.table2", "facts/agreement", evidence, word, checks, remaining, {}, [], {}, stand_in
    )
    return display.verdict_sentence(result)


def _verdict_sentences() -> dict[str, str]:
    left = "The rest needs people."
    return {
        "one check holds": _result("print", "holds"),
        "both hold, something is left": _result("print", "holds", "holds", remaining=left),
        "all fail": _result("released", "fails", "fails", "fails"),
        "one fails of three, one cannot tell": _result("open", "holds", "fails", "cannot tell"),
        "two hold of three": _result("credentialed", "holds", "holds", "cannot tell"),
        "nothing can be told": _result("synthetic", "cannot tell", "cannot tell"),
        "a stand-in": _result("open", "holds", stand_in="rated pairs from RadPref, not ReXVal"),
        "order and lead hold": _result("print", "holds", "holds", aspect="order lead"),
        "order holds, lead is open": _result("print", "holds", "cannot tell", aspect="order lead"),
        "order fails, lead the other way": _result("print", "fails", "fails", aspect="order lead"),
        "order cannot be told": _result("print", "cannot tell", "cannot tell", aspect="order lead"),
        "leads of two comparisons, none": _result(
            "print", "holds", "fails", "holds", "cannot tell", aspect="order lead"
        ),
        "leads of two comparisons, one": _result(
            "print", "holds", "holds", "fails", "cannot tell", aspect="order lead"
        ),
    }


def _card(*rows: tuple[str, str, str, str, bool]) -> pd.DataFrame:
    """Exhibits of GREEN: label, kind, evidence, outcome, whether stand-ins."""
    return pd.DataFrame(
        [
            ("GREEN", label, f"what {label} says", what, "green/x", label, evidence, came, shape)
            for label, what, evidence, came, shape in rows
        ],
        columns=["paper", "label", "title", "kind", "notebook", "anchor", "evidence", "outcome", "shape"],
    )


def _audit(*rows: tuple[str, str, str, str]) -> pd.DataFrame:
    """Checks of GREEN: exhibit, outcome, cause, explanation."""
    frame = pd.DataFrame(rows, columns=["exhibit", "outcome", "cause", "explanation"])
    constant = {"paper": "GREEN", "notebook": "green/x", "evidence": "print", "shape": False, "check": "c"}
    return frame.assign(label=frame["exhibit"], anchor=frame["exhibit"], printed="1", follows="2", **constant)


def _paper(card: pd.DataFrame, checks: pd.DataFrame) -> str:
    return re.sub(r"<[^>]+>", "", conclusions.paper_conclusion(card, checks, "GREEN"))


def _paper_conclusions() -> dict[str, str]:
    holding = _card(("A", "claim", "print", "holds", False), ("B", "table", "synthetic", "fails", True))
    lost = [(f"Section {n}", "claim", "print", "fails", False) for n in range(1, 6)]
    why = _audit(("Section 1", "fails", "paper", "The sentence holds of one table only."))
    return {
        "nothing rebuilt": _paper(_card(("A", "table", "", "not attempted", False)), _audit()),
        "no claim fails": _paper(holding, _audit()),
        "no claim was checked": _paper(_card(("A", "table", "print", "holds in part", False)), _audit()),
        "one claim fails": _paper(_card(lost[0]), why),
        "five claims fail": _paper(_card(*lost), why),
        "stand-ins alone": _paper(_card(("A", "claim", "synthetic", "cannot tell", True)), _audit()),
    }


def _comparisons() -> dict[str, str]:
    held, lost = ("a", "holds", "", ""), ("b", "fails", "paper", "Why.")
    others = [("c", "fails", "definition", "How."), ("d", "fails", "text", "Us."), ("e", "fails", "", "")]
    return {
        "none": conclusions.comparisons(_audit()),
        "one": conclusions.comparisons(_audit(held)),
        "one fails": conclusions.comparisons(_audit(held, held, lost)),
        "many causes": conclusions.comparisons(
            _audit(held, lost, *others, ("f", "fails", "rounding", "Digit."), ("g", "cannot tell", "", ""))
        ),
    }


def _evidence() -> dict[str, str]:
    found = ("holds", "holds in part", "fails", "cannot tell")
    kinds = ("credentialed", "open", "released", "print", "synthetic")
    every = [("A", "table", one, came, one == "synthetic") for one in kinds for came in found]
    shapes = [
        ("A", "table", one, came, True) for one in ("open", "print") for came in found for _ in range(2)
    ]
    missing = ("A", "table", "", "not attempted", False)
    return {
        "one of each": pages.evidence_sentences(_card(*every, missing)),
        "two of each": pages.evidence_sentences(_card(*every, *every, missing, missing)),
        "other data": pages.evidence_sentences(_card(*shapes)),
    }


def _rates(f1: tuple[float, ...], other: tuple[float, ...], targets: str) -> pd.DataFrame:
    rows = {"METEOR": f1, "BLEU": other, LENGTH: (0.5, 0.4, 0.6, np.nan, np.nan)}
    columns = ["value", "low", "high", "over_length_low", "over_length_high"]
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("metric").reset_index()
    return pd.concat(frame.assign(target=target) for target in targets.split())


def _behind(**odd: object) -> pd.DataFrame:
    plain = {"possible": 2, "empty": False, "counted_twice": 0, "neither": 0, "no_rate": False}
    return pd.DataFrame([plain, plain | odd])


def _fact_conclusions() -> dict[str, str]:
    better, worse = (0.6, 0.5, 0.7, 0.01, 0.2), (0.1, -0.1, 0.2, -0.5, -0.1)
    level = (0.45, 0.3, 0.6, -0.1, 0.1)
    rates = "f1 recall precision"
    return {
        "above length, one sees precision": facts.conclusion(_rates(better, worse, rates), _behind(), "X"),
        "level with length, both see precision": facts.conclusion(
            _rates(level, level, rates), _behind(empty=True), "X"
        ),
        "below length, none sees precision": facts.conclusion(
            _rates(worse, worse, rates), pd.concat([_behind(no_rate=True)] * 2), "X"
        ),
        "one precision": facts.conclusion(_rates(better, worse, "f1 recall"), _behind(), "X"),
    }


def _fact_sentences() -> Iterator[tuple[str, dict[str, str]]]:
    better, worse, level = (
        (0.6, 0.5, 0.7, 0.01, 0.2),
        (0.1, -0.1, 0.2, -0.5, -0.1),
        (0.4, 0.3, 0.6, -0.1, 0.1),
    )
    rates = "f1 recall precision"
    yield "experiments.facts.sentences.conclusion", _fact_conclusions()
    odd = _behind(possible=1, empty=True, counted_twice=1, neither=1, no_rate=True)
    yield (
        "experiments.facts.sentences.about_counts",
        {
            "nothing odd": facts.about_counts(_behind()),
            "one of each": facts.about_counts(odd),
            "two of each": facts.about_counts(pd.concat([odd, odd])),
        },
    )
    yield (
        "experiments.facts.sentences.about_shared",
        {
            "more than chance": facts.about_shared(Shared(100, 99, 34, 0.5)),
            "no more than chance": facts.about_shared(Shared(100, 99, 0, 0.95)),
        },
    )
    yield (
        "experiments.facts.sentences.about_metrics",
        {
            "every rate": facts.about_metrics(_rates(better, worse, rates)),
            "one precision": facts.about_metrics(_rates(better, worse, "f1 recall")),
        },
    )
    yield (
        "experiments.facts.sentences.about_length",
        {
            "better and worse": facts.about_length(_rates(better, worse, rates)),
            "all better": facts.about_length(_rates(better, better, rates)),
            "no difference": facts.about_length(_rates(level, level, rates)),
        },
    )
    average = pd.DataFrame({"R facts": [0.7], "G facts": [0.8], "Precision": [0.9], "Recall": [0.85]})
    yield "experiments.facts.sentences.about_sizes", {"always": facts.about_sizes(average)}


def _steps(*values: float) -> pd.DataFrame:
    return pd.DataFrame({"step": range(len(values)), "divide": values})


def _granularity() -> Iterator[tuple[str, dict[str, str]]]:
    lasts = _steps(0.2, 0.1)
    yield (
        "experiments.facts.granularity.where_it_stops",
        {
            "stops": granularity.where_it_stops(_steps(0.2, 0.1, -0.1), "slips a text"),
            "lasts": granularity.where_it_stops(lasts, "slips a text"),
            "never": granularity.where_it_stops(_steps(-0.2, 0.1), "slips a text"),
        },
    )


def _agreed(*ratio: float) -> str:
    rows: dict[str, tuple[float, ...]] = {
        "incorrect statements": (0.4, 0.3, 0.5),
        "omissions": (0.6, 0.5, 0.7),
    }
    if ratio:
        rows["share of errors that are omissions"] = ratio
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=["alpha", "low", "high"])
    return consultation_notes.conclusion(frame, "PriMock57")


def _reports() -> Iterator[tuple[str, dict[str, str]]]:
    from tests.pages.facts.test_reports import NONE, PART, SOME, WHOLE

    printed = mtsamples.printed_report()
    alone = mtsamples.Found(PART[1:], real=False, whole=False)
    lines = pd.DataFrame({"mean": [0.4, 0.6, 0.3]}, index=["a", "b", "reference"])
    yield (
        "experiments.facts.reports.conclusion",
        {
            "whole file": mtsamples.conclusion(WHOLE, printed),
            "no file, another description": mtsamples.conclusion(
                NONE, mtsamples.PrintedReport(printed.text, "Nothing of it")
            ),
        },
    )
    yield (
        "experiments.facts.reports.about_file",
        {name: mtsamples.about_file(one) for name, one in [("whole", WHOLE), ("part", SOME), ("none", NONE)]},
    )
    yield (
        "experiments.facts.reports.about_repeats",
        {
            "some train": mtsamples.about_repeats(SOME, np.random.default_rng(0)),
            "none trains": mtsamples.about_repeats(alone, np.random.default_rng(0)),
        },
    )
    yield (
        "experiments.facts.reports.about_summaries",
        {name: mtsamples.about_summaries(lines, name) for name in ("synthetic", "open")},
    )
    yield "experiments.facts.reports.Found.remaining", {"part": SOME.remaining}


def _against(**gaps: tuple[float, float, float, float]) -> pd.DataFrame:
    """A metric against others: difference, its ends and p."""
    names = {
        name.replace("_", " ").replace("one match", "GREEN, one match"): row for name, row in gaps.items()
    }
    return pd.DataFrame.from_dict(names, orient="index", columns=["difference", "low", "high", "p_holm"])


def _ceilings() -> Iterator[tuple[str, dict[str, str]]]:
    ahead, behind, level = (0.2, 0.1, 0.3, 0.01), (-0.2, -0.3, -0.1, 0.01), (-0.1, -0.3, 0.1, 0.4)
    best, room = "all errors", "experiments.green.sentences"
    means = pd.DataFrame({"min": [0.5, 0.3], "max": [0.7, 0.4]}, index=[best, "GREEN"])
    together = pd.Series({best: 0.75, "GREEN": 0.5, green.GIVEN: 0.6, "GREEN, all errors": 0.45})
    sides = {"the sum leads": behind, "GREEN leads": ahead, "open": level}
    yield (
        f"{room}.ceiling_words",
        {
            name: green.ceiling_words(_against(all_errors=row, one_match_given=level), means, together, best)
            for name, row in sides.items()
        },
    )
    yield (
        f"{room}.ceiling_meaning",
        {
            name: green.ceiling_meaning(_against(all_errors=row, one_match_given=row), best)
            for name, row in sides.items()
        },
    )
    found = pd.Series([4.0, 6.0, 8.0])
    grades = pd.Series([1.0, 2.0, 4.0])
    yield (
        f"{room}.about_one_match",
        {
            name: green.about_one_match(found, found / 2, found / 40, pd.Series(scores), grades)
            for name, scores in {
                "some 0": [0, 0, 0.5],
                "one 0": [0, 0.2, 0.5],
                "no 0": [0.1, 0.2, 0.5],
            }.items()
        },
    )
    yield (
        f"{room}.about_ratios",
        {"always": green.about_ratios(together, ["GREEN", green.GIVEN, "GREEN, all errors"])},
    )


def _judges() -> Iterator[tuple[str, dict[str, str]]]:
    room = "experiments.green.sentences"
    names = ["weighted errors by rules", "GREEN by rules", "BLEU", "ROUGE-L", "fourteen observations"]
    table = pd.DataFrame({"value": [0.5, 0.3, 0.2, 0.4, 0.3], "low": 0.3, "high": 0.7}, index=names)
    ceiling = pd.Series({"weighted errors": 0.7, "GREEN": 0.32})
    rivals = {
        "leads, aim open": ((0.3, 0.2, 0.4, 0.01), (0.1, 0.05, 0.2, 0.01), 0.60),
        "lead open, aim missed": ((0.3, 0.2, 0.4, 0.01), (0.1, -0.05, 0.2, 0.3), 0.80),
        "behind, aim passed": ((0.3, 0.2, 0.4, 0.01), (-0.1, -0.2, -0.05, 0.01), 0.20),
    }
    yield (
        f"{room}.rules_words",
        {
            name: green.rules_words(
                table,
                _against(BLEU=first, other=second).rename(index={"other": "ROUGE-L"}),
                ceiling,
                ["BLEU", "ROUGE-L"],
                aim,
            )
            for name, (first, second, aim) in rivals.items()
        },
    )
    said, marked, grades = (pd.Series(values) for values in ([0, 0, 2], [1, 2, 2], [3.0, 2.0, 2.5]))
    yield (
        f"{room}.silent_words",
        {
            "two": green.silent_words(said, marked, grades),
            "one": green.silent_words(said, marked.replace(1, 0), grades),
            "none": green.silent_words(said + 1, marked, grades),
        },
    )
    yield (
        f"{room}.first_sight_words",
        {
            "both": green.first_sight_words(0.91, 0.86, (0.9, 0.85)),
            "one": green.first_sight_words(0.91, 0.81, (0.9, 0.85)),
            "neither": green.first_sight_words(0.899, 0.81, (0.9, 0.85)),
        },
    )
    yield (
        f"{room}.learned_words",
        {
            "likelier": green.learned_words([AHEAD], 2, 2),
            "one each": green.learned_words([AHEAD, BEHIND, LEVEL], 0, 1),
            "less likely": green.learned_words([BEHIND, BEHIND], 0, 4),
        },
    )
    yield (
        f"{room}.bound_words",
        {
            name: green.bound_words(lead)
            for name, lead in (("passes", AHEAD), ("below", BEHIND), ("open", LEVEL))
        },
    )


def _ratescore() -> dict[str, dict[str, str]]:
    ends_of = {"below": (0.3, 0.4), "above": (0.6, 0.7), "open": (0.4, 0.6)}
    return {
        "experiments.ratescore.sentences.about_recovery": {
            "found nearer": about_recovery(0.95, 0.85, AHEAD),
            "equal nearer": about_recovery(0.75, 0.85, BEHIND),
            "open": about_recovery(0.85, 0.85, LEVEL),
            "too few pairs": about_recovery(0.95, 0.85, None),
        },
        "experiments.ratescore.sentences.beside": {
            name: beside("BioLORD", "MedCPT", Lead.by_interval(gap))
            for name, gap in (("first leads", AHEAD), ("rival leads", BEHIND), ("open", LEVEL))
        }
        | {
            "names with commas": beside(
                "MiniLM, 2 layers", "MiniLM, 2 layers, untrained", Lead.by_interval(LEVEL)
            )
        },
        "experiments.ratescore.sentences.as_said_words": {
            "both": as_said_words({"BLEU": True, "ROUGE-L": True}),
            "each": as_said_words({"BLEU": True, "ROUGE-L": False, "METEOR": None}),
        },
        "experiments.ratescore.sentences.copying_words": {
            name: copying_words(*ends) for name, ends in ends_of.items()
        },
        "experiments.ratescore.sentences.least_seen_words": {
            name: least_seen_words("wrong place", "0.50 [0.40, 0.60]", *ends)
            for name, ends in ends_of.items()
        },
    }


def _green() -> Iterator[tuple[str, dict[str, str]]]:
    def of(*gaps: Estimate) -> str:
        return preferred({f"group {number}": (0.6, 0.5, gap) for number, gap in enumerate(gaps, 1)})

    yield (
        "experiments.green.preferences.conclusion",
        {
            "GREEN leads": of(AHEAD, AHEAD),
            "the count leads": of(BEHIND, BEHIND),
            "neither": of(LEVEL, LEVEL),
            "GREEN, where it can be told": of(AHEAD, LEVEL),
            "the count, where it can be told": of(LEVEL, BEHIND),
            "each once": of(AHEAD, BEHIND),
        },
    )
    known = Recognition(threshold=0.78, recognised=0.27, synonyms=756, area=0.93)
    yield (
        "experiments.green.synonyms.synonym_words",
        {
            "no link": synonym_words(known, (0.0, 0.0, 0.0), 0),
            "one link, better": synonym_words(known, (0.02, 0.01, 0.03), 1),
            "links, worse": synonym_words(known, (-0.02, -0.03, -0.01), 12),
            "links, no clear difference": synonym_words(known, (0.001, -0.01, 0.01), 3),
        },
    )
    yield (
        "experiments.green.other_modalities.modification_prompt",
        {
            "errors": modification_prompt("The liver is normal.", "ad"),
            "none": modification_prompt("The liver is normal.", ""),
        },
    )


def made() -> dict[str, dict[str, str]]:
    """Every sentence by maker and branch."""
    lead = {"value": 1.0, "low": 0.5, "high": 1.5}
    sides = {"ahead": lead, "behind": {"value": -1.0, "low": -1.5, "high": -0.5}}
    sides["open"] = {"value": 0.2, "low": -0.4, "high": 0.8}
    return {
        "study.display.verdict_sentence": _verdict_sentences(),
        "study.pages.evidence_sentences": _evidence(),
        "study.conclusions.paper_conclusion": _paper_conclusions(),
        "study.conclusions.comparisons": _comparisons(),
        "papers.demonstrations.Contrast._repr_markdown_": {
            "a share": Contrast("A", "d", "Score of x", 0.8, 0.3, basis="by the paper")._repr_markdown_(),
            "a count": Contrast("A", "d", "Reports", 10, 12, scale=None)._repr_markdown_(),
        },
        **dict(_granularity()),
        "experiments.facts.notes.conclusion": {
            "better": _agreed(0.9, 0.8, 0.95),
            "less": _agreed(0.1, 0.0, 0.2),
            "neither": _agreed(0.55, 0.4, 0.8),
            "no ratio": _agreed(),
        },
        **dict(_reports()),
        **dict(_fact_sentences()),
        **_ratescore(),
        **dict(_green()),
        **dict(_ceilings()),
        **dict(_judges()),
    }


def rendered() -> str:
    parts = []
    for maker, branches in made().items():
        parts.append(f"## {maker}")
        parts += [f"[{branch}]\n{sentence}" for branch, sentence in branches.items()]
    return "\n\n".join(parts) + "\n"


def test_the_sentences_are_those_that_were_read() -> None:
    # Where this fails, read the difference: `python -m tests.test_sentences && git diff tests/sentences.txt`.
    assert rendered() == READ.read_text(encoding="utf-8")


@pytest.mark.parametrize("maker", made())
def test_the_sentences_are_whole(maker: str) -> None:
    for branch, sentence in made()[maker].items():
        bare = sentence.replace("**", "").strip("*")
        assert bare[0].isupper() or bare[0].isdigit(), branch
        assert bare.endswith("."), branch
        assert not re.search(
            r"  |\.\.|\bnan\b|\bNone\b(?! of)|\{|\b1 (?:\w+ )?(?:are|were|have|do|fail)\b", _plain(bare)
        ), branch
        # A clause about nothing says nothing, but for "none of four", which answers a question.
        assert not re.search(r"\b0 (?:of|are|were|fail|hold)\b|, 0 ", bare), branch


def _plain(sentence: str) -> str:
    return re.sub(r"\{[a-z]+\}`[^`]*`", "", sentence)


def _makers() -> Iterator[str]:
    """Functions of the rooms above ``metrics`` that hold the end of a sentence, but not of an error's."""

    def ends(node: ast.AST) -> bool:
        pieces = node.values if isinstance(node, ast.JoinedStr) else [node]
        words = "".join(
            str(one.value) if isinstance(one, ast.Constant) and isinstance(one.value, str) else " x "
            for one in pieces
        )
        return words.rstrip("*").endswith(".") and len(words.split()) > 3

    def within(node: ast.AST, name: str, function: bool) -> Iterator[str]:
        for child in ast.iter_child_nodes(node):
            called = getattr(getattr(child, "func", None), "id", "")
            docstring = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
            if isinstance(child, ast.Raise) or called.endswith("Error") or docstring:
                continue
            if isinstance(child, ast.JoinedStr | ast.Constant) and function and ends(child):
                yield name
            elif isinstance(child, ast.FunctionDef | ast.ClassDef) and not function:
                yield from within(child, f"{name}.{child.name}", isinstance(child, ast.FunctionDef))
            else:
                yield from within(child, name, function)

    for room in ("papers", "study", "experiments"):
        for path in sorted((ROOT / "radeval_lib" / room).rglob("*.py")):
            module = ".".join(path.relative_to(ROOT / "radeval_lib").with_suffix("").parts)
            yield from within(ast.parse(path.read_text(encoding="utf-8")), module, False)


def test_no_maker_of_sentences_is_left_out() -> None:
    public = {name for name in _makers() if not name.rpartition(".")[2].startswith("_")}
    assert public - set(made()) - REMEDIES == set()


if __name__ == "__main__":
    READ.write_text(rendered(), encoding="utf-8")
