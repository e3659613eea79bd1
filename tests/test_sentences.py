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
from radeval_lib.pages.green.other_modalities import modification_prompt
from radeval_lib.pages.rales import benchmark
from radeval_lib.pages.rales import results as rales
from radeval_lib.pages.rales.leaderboard import SCORE, Scores
from radeval_lib.pages.rales.nlg_metric_limits import FAIR, limits_words
from radeval_lib.pages.ratescore.ner_ablations import mixture_sentence
from radeval_lib.pages.ratescore.sentences import (
    about_cues,
    about_recovery,
    as_said_words,
    beside,
    copying_words,
    guessing_words,
    least_seen_words,
    standing,
)
from radeval_lib.pages.summarization import graphs_by_machine
from radeval_lib.pages.summarization import sentences as summaries
from radeval_lib.pages.summarization.tallies import LeadRetention
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
LOST, KEPT, OPEN = Estimate(0.2, -0.1, 0.4), Estimate(0.9, 0.7, 1.2), Estimate(0.5, 0.2, 0.9)


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
    low, high, tried = pd.Series([0.2, 0.5]), pd.Series([0.8, 0.9]), granularity.scenarios()[:3]
    ends, lasts = _steps(0.2, -0.1), _steps(0.2, 0.1)
    yield (
        "experiments.facts.granularity.conclusion",
        {
            "one ends, two last": granularity.conclusion(low, high, tried, [ends, lasts, lasts]),
            "all end, no divide": granularity.conclusion(high, low, tried, [ends] * 3),
            "all last": granularity.conclusion(low, high, tried, [lasts] * 3),
        },
    )
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


def _summaries() -> Iterator[tuple[str, dict[str, str]]]:
    room = "experiments.summarization"
    gaps = {"Lead-3": AHEAD, "Random": AHEAD, "Copier": LEVEL, "Oracle": BEHIND}
    seen = Estimate(0.2, 0.1, 0.3)
    table = pd.DataFrame([[0.5, 0.2], [0.6, 0.4]], index=["CT Head", "ALL"], columns=["CT Head", "MR Neck"])
    wide = pd.DataFrame(
        {"CT Head": [0.5, 0.3, 0.6], "CT Neck": [0.2, 0.5, 0.6], "MR Neck": 0.2, "MR Head": 0.4},
        index=["CT Head", "CT Neck", "ALL"],
    )
    fair = pd.DataFrame(
        [
            {"value": 0.8, "low": 0.6, "high": 0.9},
            {"value": 0.2, "low": 0.1, "high": 0.4},
            {"value": 0.6, "low": 0.4, "high": 0.8},
        ],
        index=pd.MultiIndex.from_tuples([(name, "ROUGE-L") for name in FAIR[:3]]),
    )
    right, doubtful = fair.iloc[:1], fair.iloc[2:]
    yield (
        f"{room}.sentences.conclusion",
        {
            "leads, ties and lags": summaries.conclusion("the generator", "Pointer", gaps).data,
            "leads": summaries.conclusion("MIMIC-III", "Pointer", {"Random": AHEAD}).data,
        },
    )
    yield (
        f"{room}.sentences.first_against",
        {"mixed": summaries.first_against("Pointer", gaps, pd.Series(["Pointer", "Lead-3", "Pointer"])).data},
    )
    yield (
        f"{room}.sentences.transfer_words",
        {
            "limited": summaries.transfer_words(table, "ALL", ["CT Head"], ["MR Neck"], 50).data,
            "all reports": summaries.transfer_words(wide, "ALL", list(wide)[:2], list(wide)[2:], 0).data,
        },
    )
    yield (
        f"{room}.sentences.observation_words",
        {
            "as the paper": summaries.observation_words(0.8, 0.2, 0.001).data,
            "opposite": summaries.observation_words(0.2, 0.8, 0.001).data,
            "open": summaries.observation_words(0.5, 0.4, 0.3).data,
        },
    )
    yield (
        f"{room}.sentences.comparison_words",
        {"behind": summaries.comparison_words("Pointer", {"Oracle": BEHIND}).data},
    )
    yield (
        f"{room}.sentences.unseen_words",
        {
            "most is lost": summaries.unseen_words("Pointer", LeadRetention(seen, AHEAD, LOST)).data,
            "most is kept": summaries.unseen_words("Pointer", LeadRetention(seen, AHEAD, KEPT)).data,
            "open": summaries.unseen_words("Pointer", LeadRetention(seen, AHEAD, OPEN)).data,
            "no lead": summaries.unseen_words("Pointer", LeadRetention(LEVEL, BEHIND, None)).data,
            "one kind": summaries.unseen_words("Pointer", None).data,
        },
    )
    yield (
        f"{room}.limits.limits_words",
        {
            "mixed": limits_words(fair, "ROUGE-L").data,
            "never wrong": limits_words(fair.drop(fair.index[1]), "ROUGE-L").data,
            "always right": limits_words(right, "ROUGE-L").data,
            "open": limits_words(doubtful, "ROUGE-L").data,
        },
    )


def _encoders() -> Iterator[tuple[str, dict[str, str]]]:
    rng = np.random.default_rng(0)

    def scored(**means: float) -> Scores:
        draws = np.stack([value + rng.uniform(-1, 1, 200) for value in means.values()])
        return Scores(tuple(means), pd.DataFrame({SCORE: means}), {SCORE: draws})

    yield (
        "experiments.rales.results.about_first",
        {
            "surely first": rales.about_first(scored(BERT=80.0, ELECTRA=60.0)),
            "ahead of some": rales.about_first(scored(BERT=80.0, ELECTRA=79.9, RoBERTa=60.0)),
            "open": rales.about_first(scored(BERT=80.0, ELECTRA=79.9)),
            "level": rales.about_first(scored(BERT=80.0, ELECTRA=80.0, RoBERTa=60.0)),
        },
    )
    accuracy = pd.DataFrame({"all labels": {"BERT": 70.0, "ELECTRA": 25.0}})
    yield (
        "experiments.rales.results.no_better_than_one_class",
        {
            "one did": rales.no_better_than_one_class(accuracy, 26.0),
            "none did": rales.no_better_than_one_class(accuracy, 20.0),
        },
    )
    change = pd.DataFrame(
        {"low": [-0.2, 0.1, -0.1], "high": [-0.1, 0.2, 0.1]}, index=["BERT", "ELECTRA", "RoBERTa"]
    )
    yield (
        "experiments.rales.results.about_scaling",
        {
            "all three": rales.about_scaling(change),
            "lowers": rales.about_scaling(change.loc[["BERT"]]),
            "raises": rales.about_scaling(change.loc[["ELECTRA"]]),
            "open": rales.about_scaling(change.loc[["RoBERTa"]]),
        },
    )
    yield (
        "experiments.rales.described.about_data",
        {
            "replaced": benchmark.about_data("graph corpus from the generator, not RadGraph"),
            "the paper's": benchmark.about_data(""),
        },
    )
    yield (
        "experiments.rales.described.about_domains",
        {"generated": benchmark.about_domains(True), "the paper's": benchmark.about_domains(False)},
    )
    yield (
        "experiments.rales.described.about_encoders",
        {
            "both kinds": benchmark.about_encoders(
                ["untrained:bert", "in_domain"], "the generator", generated=True
            ),
            "first layers": benchmark.about_encoders(
                ["bert", "shallow:bert"], "MEDIQA-2021", generated=False
            ),
            "real reports": benchmark.about_encoders(["in_domain"], "MEDIQA-2021", generated=False),
        },
    )
    fits = pd.DataFrame({"regime": ["all", "hundredth", "hundredth"], "validation": [100, 1, 2]})
    yield (
        "experiments.rales.described.about_validation",
        {
            "several": benchmark.about_validation(fits),
            "one": benchmark.about_validation(fits.iloc[:2]),
            "as many for each": benchmark.about_validation(fits.iloc[2:]),
        },
    )
    yield (
        "experiments.rales.described.about_noise",
        {
            "other data": benchmark.about_noise(8, 120, 2.7, "graph corpus from the generator"),
            "the paper's": benchmark.about_noise(1, 120, 5.0, ""),
        },
    )
    luck = {"trials": 8, "advantage": 3.3, "optimism_low": -1.0, "optimism_high": 2.0}
    yield (
        "experiments.rales.results.about_choosing",
        {
            "luck": rales.about_choosing(luck | {"optimism": 0.9}),
            "none": rales.about_choosing(luck | {"optimism": -0.01}),
            "less than unseen": rales.about_choosing(luck | {"optimism": -0.5}),
            "one trial": rales.about_choosing(luck | {"trials": 1, "optimism": 0.0}),
        },
    )
    yield (
        "experiments.rales.results.about_unseen",
        {
            "of test and validation": rales.about_unseen(
                ["BERT", "ELECTRA"], {"BERT": (2, 30), "ELECTRA": (0, 30), "RoBERTa": (1, 30)}
            ),
            "of test": rales.about_unseen(["BERT"], {"BERT": (0, 30)}),
            "of validation": rales.about_unseen([], {"BERT": (2, 30)}),
        },
    )


def _ratescore() -> dict[str, dict[str, str]]:
    guesses = pd.DataFrame(
        {"low": [0.6, 0.4, 0.3], "high": [0.8, 0.55, 0.8]}, index=["BLEU", "CheXbert", "METEOR"]
    )
    ends_of = {"below": (0.3, 0.4), "above": (0.6, 0.7), "open": (0.4, 0.6)}
    return {
        "experiments.ratescore.mixture.mixture_sentence": {
            "mixture adds": mixture_sentence(4, 4, 4, 4),
            "not settled": mixture_sentence(4, 4, 2, 4),
            "sentences add": mixture_sentence(4, 4, 0, 4),
            "nothing": mixture_sentence(0, 4, 0, 4),
            "not trained": mixture_sentence(3, 4, 0, 0),
        },
        "experiments.ratescore.sentences.standing": {
            "level": standing(2, 7, "Pearson's correlation", [], []),
            "ahead": standing(1, 7, "Kendall's correlation", ["BLEU", "ROUGE-L", "METEOR"], []),
            "behind one": standing(3, 7, "Pearson's correlation", [], ["METEOR"]),
            "both": standing(3, 12, "Spearman's correlation", ["BLEU"], ["METEOR", "ROUGE-L"]),
        },
        "experiments.ratescore.sentences.guessing_words": {
            "all better": guessing_words(guesses.iloc[:1]),
            "one of each": guessing_words(guesses),
        },
        "experiments.ratescore.sentences.about_cues": {
            "each once": about_cues({0.0: False, 0.1: None, 0.2: True, 0.3: True}),
            "open": about_cues({0.1: None}),
        },
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
        "experiments.radgraph.open_sentences.told": {
            "none": graphs_by_machine.told([]),
            "ten": graphs_by_machine.told([graphs_by_machine.OpenSentence("1", {})] * 10),  # type: ignore[typeddict-item]
        },
        **dict(_encoders()),
        "experiments.rales.results.verdict_of": {
            name: rales.verdict_of(one, "BERT", "ELECTRA") for name, one in sides.items()
        },
        **_ratescore(),
        **dict(_summaries()),
        "experiments.green.other_modalities.modification_prompt": {
            "errors": modification_prompt("The liver is normal.", "ad"),
            "none": modification_prompt("The liver is normal.", ""),
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

    for room in ("papers", "study", "experiments"):
        for path in sorted((ROOT / "radeval_lib" / room).rglob("*.py")):
            module = ".".join(path.relative_to(ROOT / "radeval_lib").with_suffix("").parts)
            yield from within(ast.parse(path.read_text(encoding="utf-8")), module, False)


def test_no_maker_of_sentences_is_left_out() -> None:
    public = {name for name in _makers() if not name.rpartition(".")[2].startswith("_")}
    assert public - set(made()) - REMEDIES == set()


if __name__ == "__main__":
    READ.write_text(rendered(), encoding="utf-8")
