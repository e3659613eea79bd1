"""Storing of scores: what is known of each candidate of a public test set, and what metrics say of it.

``data_manifests/recorded/README.md`` names the columns of every set but the committed outputs of systems:

``iu_systems.csv``, a row per study and candidate
    ``number`` place; ``study`` number of the study; ``case`` of its distinct reference; ``system`` file or
    landmark; ``text`` number of the distinct candidate; ``stratum`` ``finding`` (one of the codes of
    :data:`LABELS`), ``normal``, ``other`` or ``uncoded``; ``gold`` and ``found`` codes that people coded in
    the study and that the candidate states, as sums of powers of two in the order of :data:`LABELS`;
    ``stated`` the same of the fourteen observations, positive or uncertain; ``masked`` 1 where words of the
    reference are masked; ``matched_1`` to ``matched_4`` n-grams in common (COCO's words at blanks); words of
    both texts; scores.
``iu_systems_variants.csv``, a row per way to compute BLEU
    its value of each file and of the constant (:mod:`notebooks.across.bleu_variants`).
``iu_systems_codes.csv``, a row per half of Open-i and code
    how the observations agree with people's codes (:func:`agreement_with_codes`).
``iu_systems_released.csv``, a row per study
    the scores that the MoERad repository commits.

No text, no source id and nothing from which a text could be rebuilt is stored.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
import yaml
from numpy.typing import ArrayLike, NDArray

from notebooks.across import bleu_variants, trial_reviews
from notebooks.facts import copying
from notebooks.green import labelled_sentences
from radeval_lib import atomic, checksums, provenance, registry
from radeval_lib.data import iu_systems, mslr, mts_dialog, openi, radpref, readers, recorded
from radeval_lib.data.manifests import load_manifest
from radeval_lib.data.openi import LABELS
from radeval_lib.data.recorded import Recording
from radeval_lib.data.restricted import reveal
from radeval_lib.errors import ParameterError
from radeval_lib.jobs import impression_versions, learned_weights, system_sets
from radeval_lib.jobs.oriented_scores import PUBLISHED, found_in_source
from radeval_lib.metrics.base import Metric
from radeval_lib.metrics.bleu import Bleu
from radeval_lib.rules.judge import judge_pair
from radeval_lib.rules.reader.observations import NO_FINDING, coded, label, observations, positive
from radeval_lib.stats.correlations import coefficient
from radeval_lib.stats.resampling import sum_estimates
from radeval_lib.study import metric_label, recordings
from radeval_lib.study.runs import Run
from radeval_lib.study.sources import declared

SCHEMA = 2
DECIMALS = {"iu_systems": 5}
"""Digits of stored scores, if not nine."""
COUNTED = "radpref"
"""The set on which each use of the rule-based judge is counted."""
SCORING = {
    "iu_systems": system_sets.METRICS,
    "mediqa2021": ("rouge_2", "rouge_l", "bleu", "bertscore", "observations"),
    "mslr": trial_reviews.WORDS,
    "mtsamples": ("rouge_1", "rouge_l"),
    "openi": ("green_rules_errors",),
}
"""The metrics that score a set, where they are not those of its page. Of Open-i's sentences the rule-based
judge is the implementation that is tested."""
PAGES = {"fingerprints": "across/fingerprints"}
"""The page of a set, whose metrics score it, if it is not the one on agreement with radiologists."""
WORDS: dict[str, tuple[str, ...]] = {"openi": ("pneumothorax", "cardiomegaly", "radiodensity")}
"""Words that a report of a set has or not: those that RaLEs calls frequent."""
RATINGS = {
    "radpref": ["grade_1", "grade_2", "grade_3"],
    "mts_dialog": ["f1"],
    "mslr": ["rating"],
    "mediqa2021": ["normal"],
}
"""The columns whose mean a column of scores is correlated with, of a set that has ratings."""
CHOOSERS = {"mediqa2021": "observations"}
"""The metric that chooses the texts of a set, whose other columns are out of date with its own."""
HALVES = ("even", "test", "develop")
"""Of Open-i: the even half, the test split, and the odd half, on which confusions were corrected."""
ALL_CODES = "all"
JUDGED = ["rules_significant", "rules_insignificant", "rules_matched"]
"""Columns of what the rule-based judge counts."""
_SOURCES = {"fingerprints": "openi"}  # the data set of a stored set that is part of one
_SAME, _NEARLY_SAME, _NEAR_MEAN, _NEAR_TAU = 1.1e-9, 1e-6, 0.02, 0.03  # most differences: scores, means, τ_b

Metrics = Mapping[str, Metric]
Parts = dict[str, pd.DataFrame]


class Content(NamedTuple):
    """A set's table, a row per candidate; further tables by name; and reference and candidate of each row, if
    one score by each metric is to be stored beside what the table has."""

    table: pd.DataFrame
    parts: Parts = {}  # noqa: RUF012
    pairs: Sequence[tuple[str, str]] = ()


def metrics_of(run: Run, name: str, *, published: bool) -> dict[str, Metric]:
    """Return the metrics that score a set, as they are now, whatever is stored of it; a ParameterError if
    there is no such set."""
    if name not in SETS:
        raise ParameterError(f"no set {name!r} can be stored", "storing", f"Name one of {', '.join(SETS)}.")
    page = declared(PAGES.get(name, "across/which_judge"))
    keys = PUBLISHED if published else SCORING.get(name, page.metrics)
    # As the released parser, which scores an answer that is malformed.
    settings = {"green": {"mode": "reference"}}
    return {key: run.unstored_metric(key, **settings.get(key, {})) for key in keys}


def _file(run: Run, dataset: str, file: str) -> Path:
    """Return a file of a data set; a ParameterError if the data root lacks it."""
    if (path := run.find(dataset, file)) is None:
        raise ParameterError(f"the data root lacks {file}", dataset, f"Run `radbook data status {dataset}`.")
    return path


def _root(run: Run, dataset: str) -> Path:
    """Return the data root; a ParameterError if it has no file of the data set."""
    names = [Path(file.path).name for file in load_manifest(dataset).files]
    if not [name for name in names if run.find(dataset, name)]:
        raise ParameterError(
            "the data root has no file of it", dataset, f"Run `radbook data status {dataset}`."
        )
    return cast(Path, run.data_root)


def _radpref(run: Run, metrics: Metrics) -> Content:
    """Return RadPref's candidates (:func:`radpref.candidates`) with the grade that each radiologist gave,
    from 1 to 5, and what each marked (:func:`radpref.marks`) as ``ratings``."""
    candidates = radpref.candidates(_file(run, "radpref", radpref.CASES_FILE))
    files = [_file(run, "radpref", file) for file in radpref.RATING_FILES]
    marks = radpref.marks(files, candidates).drop(columns="user")
    table = candidates.drop(columns=["reference", "text", "name", "source"])
    grades = marks.pivot(index="number", columns="rater", values="grade")
    for rater in grades:
        table[f"grade_{rater}"] = table["number"].map(grades[rater])
    pairs = list(zip(candidates["reference"], candidates["text"], strict=True))
    return Content(table, {"ratings": marks}, pairs)


def _mts_dialog(run: Run, metrics: Metrics) -> Content:
    """Return a row per candidate: ``number``, ``case`` (a dialogue), ``system``, the experts' rates, the
    words of the dialogue, and the share of the candidate's words that it holds."""
    rates = pd.read_csv(_file(run, "mts_dialog", mts_dialog.SCORES))
    records = readers.load("mts_dialog", _root(run, "mts_dialog"))
    table = pd.DataFrame(
        {
            "number": range(len(records)),
            "case": pd.factorize(pd.Series([record.case for record in records]))[0],
            "system": [int(record.group.removeprefix("system ")) for record in records],
            **{
                rate: [getattr(record, rate) for record in records]
                for rate in ("precision", "recall", "f1", "hallucination", "omission")
            },
            "edit_distance": rates["Edit Distance (Correction)"].to_numpy(),
            "source_words": [len(reveal(record.source).split()) for record in records],
            "found_in_source": [
                round(found_in_source(reveal(record.source), reveal(record.candidate)), 9)
                for record in records
            ],
        }
    )
    return Content(table, {}, [(reveal(record.reference), reveal(record.candidate)) for record in records])


def _fingerprints(run: Run, metrics: Metrics) -> Content:
    """Return a row per edit of a report: ``number``, ``case`` (the report) and ``edit``."""
    edits = recordings.edited_reports(_root(run, "openi"))
    columns = {"case": [int(edit.case) for edit in edits], "edit": [edit.group for edit in edits]}
    table = pd.DataFrame({"number": range(len(edits)), **columns})
    return Content(table, {}, [(reveal(edit.reference), reveal(edit.candidate)) for edit in edits])


def _lengths(name: str, root: Path) -> pd.DataFrame:
    """Return the words of each report's sections, and whether it has a word that a paper asks for."""
    sections = [(reveal(report.findings), reveal(report.impression)) for report in readers.load(name, root)]
    table = pd.DataFrame({"number": range(len(sections))})
    table["findings_words"] = [len(findings.split()) for findings, _ in sections]
    table["impression_words"] = [len(impression.split()) for _, impression in sections]
    for word in WORDS.get(name, ()):
        table[f"word_{word}"] = [int(word in " ".join(texts).lower()) for texts in sections]
    return table


def _mediqa(run: Run, metrics: Metrics) -> Content:
    """Return lengths of reports; normal and other impressions beside normal ones, with ``case`` (the
    reference) and ``normal``."""
    root = _root(run, "mediqa2021")
    scored = impression_versions.real_impressions(run, metrics)
    impressions = pd.DataFrame(
        {
            "number": range(len(scored)),
            "case": scored["report"].astype(int),
            "normal": (scored["phenomenon"] == impression_versions.NORMAL).astype(int),
            **{f"{side}_words": scored[side].str.split().str.len() for side in ("reference", "candidate")},
            **{key: scored[key].round(9) for key in metrics},
        }
    )
    return Content(_lengths("mediqa2021", root), {"impressions": impressions})


def _openi(run: Run, metrics: Metrics) -> Content:
    """Return lengths and words of reports, and the rules' answers on labelled sentences and pairs of them."""
    root = _root(run, "openi")
    sentences, pairs = labelled_sentences.counts_and_answers(run)
    return Content(_lengths("openi", root), {"sentences": sentences, "pairs": pairs})


def _mtsamples(run: Run, metrics: Metrics) -> Content:
    """Return a row per transcription: ``case`` (its text), ``specialty``, words of both texts, and how much
    of the description is copied."""
    notes = readers.load("mtsamples", _root(run, "mtsamples"))
    texts, summaries = ([reveal(getattr(note, side)) for note in notes] for side in ("text", "summary"))
    table = pd.DataFrame(
        {
            "number": range(len(notes)),
            "case": pd.factorize(pd.Series(texts))[0],
            "specialty": pd.factorize(pd.Series([note.group for note in notes]))[0] + 1,
            "text_words": [len(text.split()) for text in texts],
            "description_words": [len(text.split()) for text in summaries],
        }
    )
    return Content(table.join(copying.measure_copying(texts, summaries).round(9)))


def _mslr(run: Run, metrics: Metrics) -> Content:
    """Return summaries of trials with facet ratings and scores."""
    for name in mslr.RATERS:
        _file(run, "mslr", f"{name}.tsv")
    return Content(trial_reviews.load(run, metrics))


def _systems(run: Run, metrics: Metrics) -> Content:
    """Return the committed outputs of systems: see the module's description."""
    reports = _file(run, "openi", "indiana_reports.csv")
    labels = _file(run, "openi_labels", openi.LABELS_FILE)
    references = _file(run, "iu_systems", iu_systems.REFERENCES)
    texts = system_sets.outputs(_root(run, "iu_systems"))
    released = pd.DataFrame(
        iu_systems.released_scores(
            _file(run, "iu_systems", iu_systems.SCORES), list(iu_systems.references(references))
        )
    )
    parts = {
        "variants": bleu_variants.compute_variants(texts, [*system_sets.FILES, system_sets.CONSTANT]),
        "released": released.reset_index(drop=True).rename_axis("study").reset_index().round(6),
        "codes": agreement_with_codes(reports, labels, set(iu_systems.references(references))),
    }
    return Content(system_table(texts), parts, list(zip(texts["reference"], texts["candidate"], strict=True)))


def system_table(texts: pd.DataFrame) -> pd.DataFrame:
    """Return what is known of each row of texts (:func:`system_sets.outputs`) beside its scores."""

    def mask(stated: frozenset[str], names: Sequence[str] = LABELS) -> int:
        return sum(1 << bit for bit, name in enumerate(names) if name in stated)

    codes = {text: mask(coded(text)) for text in texts["candidate"].unique()}
    stated = {text: mask(positive(label(text)) - {NO_FINDING}, observations()) for text in codes}
    details = Bleu().score([*texts["reference"]], [*texts["candidate"]]).details
    counts = np.array([detail["counts"] for detail in details])
    return pd.DataFrame(
        {
            "number": range(len(texts)),
            "study": texts["study"],
            "case": pd.factorize(texts["reference"])[0],
            "system": texts["system"],
            "text": pd.factorize(texts["candidate"])[0],
            "stratum": texts["stratum"],
            "gold": [mask(gold) for gold in texts["gold"]],
            "found": [codes[text] for text in texts["candidate"]],
            "stated": [stated[text] for text in texts["candidate"]],
            "masked": texts["reference"].str.contains("XXXX").astype(int),
            **{f"matched_{n}": counts[:, n - 1].astype(int) for n in range(1, 5)},
        }
    ).reset_index(drop=True)


def agreement_with_codes(reports: Path, labels: Path, tested: set[str]) -> pd.DataFrame:
    """Return how the observations by rules agree with what people coded in Open-i, by half (:data:`HALVES`)
    and code, and over all codes micro F1 with its interval, for which distinct texts are drawn.

    Fixed before the even half was scored:

    - sections: findings and impression, which the coders saw; history and comparison are not read;
    - uncertain mentions: a code counts if it is stated, probable or one of two ("scarring or atelectasis"),
      not if it is merely possible ("may", "possibly", "cannot exclude", "concerning for"). On the odd half
      people coded 39 of 59 of the former and 1 of 86 of the latter;
    - halves: of distinct texts (:func:`radeval_lib.data.openi.halves`), 3,037 of 3,851. Confusions were
      corrected on the odd half alone, without the 590 studies of the test split (``tested``, by their ids)
      and without texts that equal one of theirs.
    """
    every, people = openi.load(reports), {study.id: study.codes for study in openi.load_labels(labels)}
    half, rng = openi.halves(every), np.random.default_rng(0)
    even = [report for report in every if half[report.id] == "even"]
    split = [report for report in every if report.id in tested]
    rows: list[tuple[object, ...]] = []
    for name, of_half in zip(HALVES, (even, split, openi.development_reports(every, tested)), strict=True):
        texts, keys = pd.factorize(pd.Series([openi.text_key(report) for report in of_half]))
        read = [coded(f"{reveal(report.findings)}\n{reveal(report.impression)}") for report in of_half]
        gold = np.array([[key in people[report.id] for key in LABELS] for report in of_half])
        ours = np.array([[key in codes for key in LABELS] for codes in read])
        counts = np.stack([gold & ours, ~gold & ours, gold & ~ours], axis=-1).astype(np.int64)
        sizes = (len(of_half), len(keys))
        by_code = counts.sum(axis=0)
        for key, of_code in zip(LABELS, by_code.tolist(), strict=True):
            rows.append((name, key, *sizes, *of_code, float(f1(of_code)), None, None))
        sums = np.zeros((len(keys), 3))
        np.add.at(sums, texts, counts.sum(axis=1))
        (whole,) = sum_estimates(sums, lambda drawn: f1(drawn)[..., None], resamples=2_000, rng=rng)
        rows.append(
            (name, ALL_CODES, *sizes, *map(int, sums.sum(axis=0)), whole.value, whole.low, whole.high)
        )
    columns = ["half", "code", "reports", "texts", "both", "wrong", "missed", "f1", "low", "high"]
    return pd.DataFrame(rows, columns=columns).round(6)


def f1(sums: ArrayLike) -> NDArray[np.float64]:
    """Return micro F1 of codes in both, found wrongly and missed (the last axis); 1 if there are none."""
    both, wrong, missed = np.moveaxis(np.asarray(sums, np.float64), -1, 0)
    total = 2 * both + wrong + missed
    return np.divide(2 * both, total, out=np.ones_like(total), where=total > 0)


SETS: dict[str, Callable[[Run, Metrics], Content]] = {
    "radpref": _radpref,
    "mts_dialog": _mts_dialog,
    "fingerprints": _fingerprints,
    "mediqa2021": _mediqa,
    "mslr": _mslr,
    "mtsamples": _mtsamples,
    "openi": _openi,
    "iu_systems": _systems,
}
"""What is known of each candidate of a set; a set without pairs scores its texts itself."""


def kept(name: str, metrics: Metrics) -> pd.DataFrame:
    """Return the columns to keep as they are stored: those of the rule-based metrics and of the rule-based
    judge's counts, if the set was first scored with frozen rules and one of these metrics behaves otherwise
    now. An empty table if nothing is kept."""
    if name not in recorded.names() or name not in recordings.FROZEN_SETS:
        return pd.DataFrame()
    frozen = registry.FROZEN_METRICS
    if not any(recordings.is_out_of_date(name, metrics[key]) for key in frozen):
        return pd.DataFrame()
    table = recorded.load(name).table
    return table[[key for key in (*frozen, *JUDGED) if key in table]]


def judge_by_rules(pairs: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """Return the significant and other errors, and the matched findings, that the rule-based judge counts."""
    rows = []
    for pair in pairs:
        judgement = judge_pair(*pair)
        significant = sum(error.significant for error in judgement.errors)
        rows.append((significant, len(judgement.errors) - significant, judgement.matched_findings))
    return pd.DataFrame(rows, columns=JUDGED)


def variants(run: Run, metric: Any, pairs: Sequence[tuple[str, str]]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return RaTEScore's scores by other weights and encoders, and what is known of each column."""
    entities = learned_weights.entities(metric, *zip(*pairs, strict=True))
    by_setting = learned_weights.scores_by_setting(run, entities)
    columns = dict(zip(learned_weights.RECORDED, by_setting.values(), strict=True))
    roles = ("encoder", "ner_model", "rival_encoder")
    made = {**column(metric, run), "models": {role: dict(run.reading.models[role]) for role in roles}}
    about = {
        key: {**made, "settings": {"differs": title}}
        for key, title in zip(learned_weights.RECORDED, by_setting, strict=True)
    }
    return pd.DataFrame(columns).round(9), about


def column(metric: Metric, run: Run, *, published: bool = False) -> dict[str, Any]:
    """Return the settings, date and code version of a metric's column; of published models without their
    behaviour on the probe, which our trained models have."""
    return {
        "title": metric_label(metric, run.whole_profile.models),
        "settings": recordings.settings_text(metric),
        **({} if published else recordings.recorded_behaviour(metric)),
        "signature": metric.signature(),
        "date": datetime.date.today().isoformat(),
        "commit": provenance.commit()["commit"],
    }


def about(run: Run, name: str) -> dict[str, Any]:
    """Return what a set is, and with which files, models and packages it is scored."""
    source = _SOURCES.get(name, name)
    manifest = load_manifest(source)
    files = [(file.path, run.find(source, file.path)) for file in manifest.files]
    return {
        "schema": SCHEMA,
        "set": name,
        "title": manifest.title,
        "source": manifest.source,
        "licence": manifest.licence,
        "files": {path_in_root: checksums.of_file(path) for path_in_root, path in files if path},
        "profile": run.whole_profile.name,
        "device": provenance.device(run.whole_profile.device),
        "models": dict(sorted(run.reading.models.items())),
        "packages": provenance.package_versions(),
    }


def compare_with_stored(run: Run, stored: Recording, content: Content, metrics: Metrics) -> pd.DataFrame:
    """Return every stored column of numbers beside what the code and the models give now.

    Returns
    -------
    DataFrame
        A row per column: ``table``, ``column``; ``case`` (*out of date*, *no model*, *the stored models*,
        *other models*); ``apart``, the largest difference; ``mean``, that of the means; ``tau``, that of τ_b
        with the set's ratings, NaN if it has none; ``holds``, whether that is within what the case allows:
        nothing of what is out of date, 1e-9, 1e-6, or a mean within .02 and a τ_b within .03.
    """
    stale = recordings.out_of_date(stored.name)
    rows = []
    tables = {"": (stored.table, content.table)}
    tables |= {part: (frame, content.parts[part]) for part, frame in stored.parts.items()}
    for part, (before, after) in tables.items():
        rated = [rating for rating in RATINGS.get(stored.name, ()) if rating in before]
        ratings = before[rated].mean(axis=1)
        for name in before.select_dtypes("number"):
            key = max((key for key in metrics if str(name).startswith(key)), key=len, default="")
            key = "green_rules" if str(name).startswith("rules_") else key
            roles = metrics[key].needs if key in metrics else ()
            used = {role: run.reading.models[role]["sha256"] for role in roles}
            models = stored.about["models"]
            same = all(models.get(role, {}).get("sha256") == digest for role, digest in used.items())
            case = "no model" if not used else "the stored models" if same else "other models"
            apart = after[name].to_numpy(float) - before[name].to_numpy(float)
            tau = np.nan
            if used and rated:
                taus = [coefficient(frame[name], ratings, "kendall") for frame in (after, before)]
                tau = taus[0] - taus[1]
            most = float(np.nanmax(np.abs(apart), initial=0))
            holds = most <= (_NEARLY_SAME if used else _SAME)
            if case == "other models":
                holds = abs(np.nanmean(apart)) <= _NEAR_MEAN and not abs(tau) > _NEAR_TAU
            if key in stale or CHOOSERS.get(stored.name) in stale or (stale and not key and most):
                case, holds = "out of date", False
            rows.append((part, name, case, most, float(np.nanmean(apart)), tau, bool(holds)))
    return pd.DataFrame(rows, columns=["table", "column", "case", "apart", "mean", "tau", "holds"])


def write(folder: Path, name: str, content: Content, described_as: Mapping[str, Any]) -> Path:
    """Write a set whole or not at all: its description names the SHA-256 of every table."""
    tables = {f"{name}.csv": content.table}
    tables |= {f"{name}_{part}.csv": frame for part, frame in content.parts.items()}
    texts = {file: frame.to_csv(index=False) for file, frame in tables.items()}
    described = {**described_as, "tables": {file: checksums.of_text(text) for file, text in texts.items()}}
    texts[f"{name}.yml"] = yaml.safe_dump(described, sort_keys=False, allow_unicode=True, width=110)
    folder.mkdir(exist_ok=True)
    with atomic.new_files(*(folder / file for file in texts)) as new:
        for path, text in zip(new, texts.values(), strict=True):
            path.write_text(text, encoding="utf-8")
    recorded.load.cache_clear()
    return folder / f"{name}.csv"
