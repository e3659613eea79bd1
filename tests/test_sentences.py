"""Every sentence that the library makes for a page, in each of its branches, against a file for reading.

``python -m tests.test_sentences`` writes ``tests/sentences.txt`` again; read what changed, then commit it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from notebooks.across import at_a_glance, real_systems
from notebooks.green import preferences, silent_judge
from notebooks.rales import benchmark, benchmark_calibration
from notebooks.ratescore import error_counts, rated_pairs, released_models
from radeval_lib.data import recorded
from radeval_lib.jobs.ratescore import learned_weights
from radeval_lib.papers.demonstrations import Contrast
from radeval_lib.papers.printed_numbers import parse
from radeval_lib.paths import ROOT
from radeval_lib.stats.estimates import Estimate
from radeval_lib.study import exhibit_html, profiles, recordings
from radeval_lib.study.checks import Check, Key
from radeval_lib.study.judging import Discrepancy, judge
from radeval_lib.study.metric_agreement import Agreement
from radeval_lib.study.results import Result
from radeval_lib.study.verdicts import OURS, PAPERS_OWN, kind

READ = Path(__file__).with_name("sentences.txt")
REMEDIES = {
    "study.changes.page",
    "study.declarations._read",
    "study.profiles.Profile.section",
    "study.profiles.profile",
    "study.results.read",
    "papers.printed_numbers.printed",
    "papers.printed_numbers.require_columns",
    "jobs.storing.oriented_scores.drawn",
    "notebooks.across.paper_versus_code.procedure_texts",
    "notebooks.across.paper_versus_code.shifted_pairs",
    "notebooks.across.paper_versus_code.short_impressions",
    "notebooks.green.stray_analyses.variants",
}  # remedies of errors and pages, which tests of their own read, and texts that are tried
AHEAD, BEHIND, LEVEL = Estimate(0.1, 0.05, 0.2), Estimate(-0.1, -0.2, -0.05), Estimate(0.0, -0.1, 0.1)


def _check(result: str, aspect: str = "", number: int = 0) -> Check:
    return Check(Key(f"{aspect or 'check'} {number}"), "1", "2", result, aspect=aspect)


def _result(
    evidence: str,
    *found: str,
    remaining: str = "",
    stand_in: str = "",
    aspect: str = "",
    open_convention: bool = False,
) -> str:
    aspects = aspect.split()
    checks = tuple(
        _check(one, aspects[n % len(aspects)] if aspects else "", n) for n, one in enumerate(found)
    )
    if open_convention:
        checks = tuple(replace(one, discrepancy="two" if one.outcome == "fails" else "") for one in checks)
    discrepancies = {"two": Discrepancy("convention", "x")}
    ours = OURS if evidence == "synthetic" else PAPERS_OWN
    made = kind(evidence, stand_in, ours)
    word = judge(made, checks, discrepancies)
    result = Result(
        *(
            "facts.table2",
            "facts/agreement",
            evidence,
            ours,
            word,
            None,
            checks,
            remaining,
            discrepancies,
            [],
        ),
        *({}, stand_in),
    )
    return exhibit_html.verdict_sentence(result)


def _verdict_sentences() -> dict[str, str]:
    left = "The rest needs people."
    return {
        "one check holds": _result("printed", "holds"),
        "both hold, something is left": _result("printed", "holds", "holds", remaining=left),
        "all fail": _result("released", "fails", "fails", "fails"),
        "one fails of three, one inconclusive": _result("open", "holds", "fails", "inconclusive"),
        "two hold of three": _result("credentialed", "holds", "holds", "inconclusive"),
        "all are inconclusive": _result("open", "inconclusive", "inconclusive"),
        "one fails by an open convention": _result("open", "fails", open_convention=True),
        "one of three fails by an open convention": _result(
            "printed", "holds", "holds", "fails", open_convention=True
        ),
        "an experiment of our own": _result("synthetic", stand_in="generated reports"),
        "a stand-in": _result("open", "holds", stand_in="rated pairs from RadPref, not ReXVal"),
        "order and lead hold": _result("printed", "holds", "holds", aspect="order lead"),
        "order holds, lead is open": _result("printed", "holds", "inconclusive", aspect="order lead"),
        "order fails, lead the other way": _result("printed", "fails", "fails", aspect="order lead"),
        "order inconclusive": _result("printed", "inconclusive", "inconclusive", aspect="order lead"),
        "leads of two comparisons, none": _result(
            "printed", "holds", "fails", "holds", "inconclusive", aspect="order lead"
        ),
        "leads of two comparisons, one": _result(
            "printed", "holds", "holds", "fails", "inconclusive", aspect="order lead"
        ),
    }


def _of_rated_pairs(p: float) -> dict[str, str]:
    rows = pd.DataFrame({"metric": ["BLEU", "RaTEScore"], "value": [0.4, 0.3], "low": 0.2, "high": 0.5})
    leads = pd.DataFrame({"rival": ["BLEU"], "difference": -0.1, "low": -0.2, "high": 0.1, "p_holm": p})
    kinds = rated_pairs.EXPERIMENTS["rated_paragraphs"].kinds
    found = [pd.concat(table.assign(kind=kind) for kind in kinds) for table in (rows, leads)]
    one = Agreement(rows, rows, *found)
    told = rated_pairs.answer({"rated_paragraphs": one, "rated_errors": one}, "RadPref")
    return {"answer": told["answer"], "rests": told["rests"], "errors": told["errors"]}


def _of_weights(p: float) -> dict[str, str]:
    leads = {"difference": 0.1, "low": 0.05, "high": 0.2, "p_holm": p}
    names = [learned_weights.EQUAL, "encoder: MiniLM, untrained"]
    return learned_weights.answer(pd.DataFrame(leads, index=names), 200, "RadPref")


def _of_lengths(found: Estimate) -> dict[str, str]:
    sides = [(value, length) for value in error_counts.TITLES for length in error_counts.LENGTHS]
    return error_counts.answer(dict.fromkeys(sides, replace(found, n=200)), "RadPref")


def _left_out(**cases: int) -> str:
    """What is said of groups by length with so many cases."""
    groups = pd.DataFrame({"group": list(cases), "cases": list(cases.values())})
    rule = {"short_words": parse("10"), "long_words": parse("25")}
    return error_counts.left_out(groups, rule, "Length alone was not tried.", "RadPref")


def _of_choices(judge: str) -> str:
    """What is said of how often GREEN's score, by some judge, chooses as radiologists do."""
    run = SimpleNamespace(profile=SimpleNamespace(models={"judge": judge}))
    table = pd.DataFrame({"accuracy": 0.81, "low": 0.71, "high": 0.89}, index=["GREEN"])
    return preferences.answer(run, table, 73)  # type: ignore[arg-type]


def _of_data(evidence: str, stand_in: str) -> str:
    run = SimpleNamespace(evidence=lambda role: evidence, stand_in=lambda wanted: stand_in)
    return benchmark.data_words(run)  # type: ignore[arg-type]


def _of_classes(**left_out: int) -> str:
    """What is said of classifiers with so many validation documents left out, of 50, NLL infinite for all."""
    found = {name: SimpleNamespace(infinite=True, left_out=n, validation=50) for name, n in left_out.items()}
    return benchmark_calibration.unlearned_words(found)  # type: ignore[arg-type]


def _branches(**told: dict[str, str]) -> dict[str, str]:
    return {f"{branch}, {key}": text for branch, texts in told.items() for key, text in texts.items()}


def _told(stale: list[str]) -> str:
    columns = {key: {"commit": "b7e6e0333880", "date": "2026-11-25"} for key in ("rouge_l", "bleu")}
    found = recorded.Recording("set", pd.DataFrame(), {"title": "MTS-Dialog: notes", "columns": columns})
    return recordings.sentence(found, stale, "a10f5e2")


def made() -> dict[str, dict[str, str]]:
    """Every sentence by maker and branch."""
    return {
        "study.exhibit_html.verdict_sentence": _verdict_sentences(),
        "study.recordings.sentence": {
            "one": _told([]),
            "one is out of date": _told(["rouge_l"]),
            "two are": _told(["rouge_l", "bleu"]),
        },
        "notebooks.across.real_systems.rests_on": {
            "recorded": real_systems.rests_on("25 November 2026"),
            "the same": real_systems.rests_on("25 November 2026", ["BLEU", "METEOR"]),
            "another": real_systems.rests_on("25 November 2026", ["BLEU"], ["METEOR (up to 0.1)"]),
            "none the same": real_systems.rests_on("25 November 2026", [], ["METEOR (up to 0.1)"]),
        },
        "notebooks.green.silent_judge.against_labels": {
            "all": silent_judge.against_labels(
                dict.fromkeys(("significant", "insignificant", "matched"), "3 of 9")
            )
        },
        "notebooks.green.silent_judge.against_radiologists": {
            "all": silent_judge.against_radiologists(
                {
                    "silence": "1.17 [0.89, 1.47]",
                    "least": "1.51",
                    "most": "2.62",
                    "nearer": "none",
                    "models": "six",
                    "total": "1.03",
                }
            )
        },
        "notebooks.green.preferences.answer": {
            "rules": _of_choices("rules"),
            "a model": _of_choices("model"),
        },
        "notebooks.rales.benchmark.data_words": {
            "generated": _of_data("synthetic", "x"),
            "stand-ins": _of_data("open", "graph corpus from Open-i, not radgraph"),
            "the paper's": _of_data("credentialed", ""),
        },
        "notebooks.rales.benchmark_calibration.unlearned_words": {
            "none left out": _of_classes(first=0, second=0),
            "one left out": _of_classes(first=0, second=2),
        },
        "papers.demonstrations.Contrast._repr_markdown_": {
            "a share": Contrast("A", "d", "Score of x", 0.8, 0.3, basis="by the paper")._repr_markdown_(),
            "a count": Contrast("A", "d", "Reports", 10, 12, scale=None)._repr_markdown_(),
        },
        "notebooks.ratescore.error_counts.answer": _branches(
            rises=_of_lengths(AHEAD), falls=_of_lengths(BEHIND), open=_of_lengths(LEVEL)
        ),
        "notebooks.ratescore.error_counts.left_out": {
            "all there": _left_out(short=4, long=20),
            "none short": _left_out(short=0, long=20),
            "none long": _left_out(short=4, long=0),
        },
        "jobs.ratescore.learned_weights.answer": _branches(decided=_of_weights(0.01), open=_of_weights(0.4)),
        "notebooks.across.at_a_glance.stand_ins": {
            "sentence": at_a_glance.stand_ins("models trained here", "MiniLM")
        },
        "notebooks.ratescore.rated_pairs.answer": _branches(
            decided=_of_rated_pairs(0.01), open=_of_rated_pairs(0.4)
        ),
        "notebooks.ratescore.released_models.other_models": {
            "stand-ins": released_models.other_models(SimpleNamespace(profile=profiles.profile("smoke")))  # type: ignore[arg-type]
        },
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

    for room in ("papers", "study", "pages"):
        for path in sorted((ROOT / "radeval_lib" / room).rglob("*.py")):
            module = ".".join(path.relative_to(ROOT / "radeval_lib").with_suffix("").parts)
            yield from within(ast.parse(path.read_text(encoding="utf-8")), module, False)


def test_no_maker_of_sentences_is_left_out() -> None:
    public = {name for name in _makers() if not name.rpartition(".")[2].startswith("_")}
    assert public - set(made()) - REMEDIES == set()


if __name__ == "__main__":
    READ.write_text(rendered(), encoding="utf-8")
