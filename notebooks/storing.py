"""Functions of ``storing.md``, which stores scores and other numbers for each candidate of a public data set.

``data_manifests/recorded/README.md`` describes the columns of all sets but ``iu_systems``, which has these:

``iu_systems.csv``, one row per study and candidate
    ``number``, the number of the row; ``study``, the number of the study; ``case``, the number of the
    distinct reference; ``system``, the name of the system or baseline; ``text``, the number of the distinct
    candidate; ``stratum``, which is ``finding`` (one of the codes in :data:`LABELS`), ``normal``, ``other``
    or ``uncoded``; ``gold`` and ``found``, the codes that people gave the study and those that the candidate
    states, as sums of powers of two in the order of :data:`LABELS`; ``stated``, the positive and uncertain
    CheXpert observations in the candidate, as a sum of powers of two in the order of
    :func:`~radeval_lib.rules.reader.observations.list_labels`, without *No Finding*; ``masked``, 1 if words
    of the reference are masked, otherwise 0; ``matched_1`` to ``matched_4``, the numbers of n-grams in both
    texts; the numbers of words in each text; and the scores.
``iu_systems_variants.csv``, one row per variant of BLEU
    the value for each system and for the baseline ``a constant``
    (:func:`~radeval_lib.jobs.system_sets.make_baselines`); see :mod:`notebooks.across.bleu_variants`.
``iu_systems_codes.csv``, one row per part of Open-i and code
    agreement of the observations with the codes that people gave (:func:`compare_with_codes`).
``iu_systems_released.csv``, one row per study
    the scores published in the MoERad repository.

No text, no id of the source and nothing from which a text could be reconstructed is stored.
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
from radeval_lib.rules.reader.observations import NO_FINDING, label, list_labels, read_codes, select_positive
from radeval_lib.stats.correlations import coefficient
from radeval_lib.stats.resampling import sum_estimates
from radeval_lib.study import metric_label, recordings
from radeval_lib.study.runs import Run
from radeval_lib.study.sources import declared

SCHEMA = 2  # Version of the format of a set's description.
DECIMALS = {"iu_systems": 5}
"""Number of decimals of a set's stored scores, if not nine."""
COUNTED_SET = "radpref"
"""The set for which each scoring with the parameter ``unfreeze`` of ``storing.md`` is counted."""
SET_METRICS = {
    "iu_systems": system_sets.METRICS,
    "mediqa2021": ("rouge_2", "rouge_l", "bleu", "bertscore", "observations"),
    "mslr": trial_reviews.WORDS,
    "mtsamples": ("rouge_1", "rouge_l"),
    "openi": ("green_rules_errors",),
}
"""The metrics that score a set, if not those of its page."""
PAGES = {"fingerprints": "across/fingerprints"}
"""The page whose metrics score a set, if not ``across/which_judge``."""
WORDS: dict[str, tuple[str, ...]] = {"openi": ("pneumothorax", "cardiomegaly", "radiodensity")}
"""Words that RaLEs calls frequent. Whether a report of the set contains each of them is stored."""
RATINGS = {
    "radpref": ["grade_1", "grade_2", "grade_3"],
    "mts_dialog": ["f1"],
    "mslr": ["rating"],
    "mediqa2021": ["normal"],
}
"""The columns with a set's ratings; scores are correlated with their mean."""
CHOOSERS = {"mediqa2021": "observations"}
"""The metric that chooses the texts of a set. If it is out of date, so are all columns."""
HALVES = ("even", "test", "develop")
"""Parts of Open-i: the even half, the test split, and the odd half, on which the rules were corrected."""
ALL_CODES = "all"
JUDGE_COLUMNS = ["rules_significant", "rules_insignificant", "rules_matched"]
"""The columns of the rule-based judge: numbers of errors and of matched findings."""
_SOURCES = {"fingerprints": "openi"}  # The data set of a stored set with another name.
# Allowed differences from stored scores: without models, with the same models, and (mean, τ_b) with others.
_SAME, _NEARLY_SAME, _NEAR_MEAN, _NEAR_TAU = 1.1e-9, 1e-6, 0.02, 0.03

Metrics = Mapping[str, Metric]
Parts = dict[str, pd.DataFrame]
Pairs = Sequence[tuple[str, str]]


class Content(NamedTuple):
    """The tables of a set that are stored.

    Attributes
    ----------
    table : one row per candidate.
    parts : a mapping from name to further table.
    pairs : the reference and the candidate of each row of ``table``, for scoring by each metric; empty if the
        tables already have all scores.
    """

    table: pd.DataFrame
    parts: Parts = {}  # noqa: RUF012
    pairs: Pairs = ()


def load_metrics(run: Run, name: str, *, published: bool) -> dict[str, Metric]:
    """Return a mapping from name to each metric that scores a set; none returns stored scores.

    ``published`` is whether to return the metrics with published models (:data:`PUBLISHED`) instead of those
    of the set.

    Raises
    ------
    ParameterError
        If the set is unknown.
    """
    if name not in SETS:
        raise ParameterError(f"unknown set {name!r}", "storing", f"Use one of {', '.join(SETS)}.")
    page = declared(PAGES.get(name, "across/which_judge"))
    keys = PUBLISHED if published else SET_METRICS.get(name, page.metrics)
    # GREEN is scored by the released parser, which also scores malformed answers.
    settings = {"green": {"mode": "reference"}}
    return {key: run.unstored_metric(key, **settings.get(key, {})) for key in keys}


def _require_file(run: Run, dataset: str, file: str) -> Path:
    """Return the path of a data set's file; raises ParameterError if the data root lacks it."""
    if (path := run.find(dataset, file)) is None:
        raise ParameterError(f"the data root lacks {file}", dataset, f"Run `radbook data status {dataset}`.")
    return path


def _require_root(run: Run, dataset: str) -> Path:
    """Return the data root; raises ParameterError if it has no file of the data set."""
    names = [Path(file.path).name for file in load_manifest(dataset).files]
    if not [name for name in names if run.find(dataset, name)]:
        raise ParameterError(
            "the data root has no file of this data set", dataset, f"Run `radbook data status {dataset}`."
        )
    return cast(Path, run.data_root)


def _load_radpref(run: Run, metrics: Metrics) -> Content:
    """Return the content of RadPref: one row per candidate, with the three radiologists' grades (1 to 5).

    The part ``ratings`` has the marks of each radiologist in each candidate.

    Raises
    ------
    ParameterError
        If the data root lacks a file of RadPref.
    """
    candidates = radpref.read_candidates(_require_file(run, "radpref", radpref.CASES_FILE))
    files = [_require_file(run, "radpref", file) for file in radpref.RATING_FILES]
    marks = radpref.read_marks(files, candidates).drop(columns="user")
    table = candidates.drop(columns=["reference", "text", "name", "source"])
    grades = marks.pivot(index="number", columns="rater", values="grade")
    for rater in grades:
        table[f"grade_{rater}"] = table["number"].map(grades[rater])
    pairs = list(zip(candidates["reference"], candidates["text"], strict=True))
    return Content(table, {"ratings": marks}, pairs)


def _load_mts_dialog(run: Run, metrics: Metrics) -> Content:
    """Return the content of MTS-Dialog, with one row per candidate.

    Columns are ``number``, ``case`` (the number of the dialogue), ``system``, rates from the experts' counts
    of facts, ``edit_distance`` (of the experts' correction), ``source_words`` (the number of words in the
    dialogue), and ``found_in_source`` (:func:`~radeval_lib.jobs.oriented_scores.found_in_source`).

    Raises
    ------
    ParameterError
        If the data root lacks the file of scores.
    """
    printed_scores = pd.read_csv(_require_file(run, "mts_dialog", mts_dialog.SCORES))
    records = readers.load("mts_dialog", _require_root(run, "mts_dialog"))
    table = pd.DataFrame(
        {
            "number": range(len(records)),
            "case": pd.factorize(pd.Series([record.case for record in records]))[0],
            "system": [int(record.group.removeprefix("system ")) for record in records],
            **{
                rate: [getattr(record, rate) for record in records]
                for rate in ("precision", "recall", "f1", "hallucination", "omission")
            },
            "edit_distance": printed_scores["Edit Distance (Correction)"].to_numpy(),
            "source_words": [len(reveal(record.source).split()) for record in records],
            "found_in_source": [
                round(found_in_source(reveal(record.source), reveal(record.candidate)), 9)
                for record in records
            ],
        }
    )
    return Content(table, {}, [(reveal(record.reference), reveal(record.candidate)) for record in records])


def _load_fingerprints(run: Run, metrics: Metrics) -> Content:
    """Return edited reports, with one row per edit: ``number``, ``case`` (the report) and ``edit``.

    Raises
    ------
    ParameterError
        If the data root has no file of Open-i.
    """
    edits = recordings.edited_reports(_require_root(run, "openi"))
    columns = {"case": [int(edit.case) for edit in edits], "edit": [edit.group for edit in edits]}
    table = pd.DataFrame({"number": range(len(edits)), **columns})
    return Content(table, {}, [(reveal(edit.reference), reveal(edit.candidate)) for edit in edits])


def _count_words(name: str, root: Path) -> pd.DataFrame:
    """Count the words in both sections of each report of a set.

    The table has one row per report, with columns ``number``, ``findings_words``, ``impression_words`` and,
    for each of the set's :data:`WORDS`, ``word_<word>``: 1 if the report contains the word, otherwise 0.
    """
    sections = [(reveal(report.findings), reveal(report.impression)) for report in readers.load(name, root)]
    table = pd.DataFrame({"number": range(len(sections))})
    table["findings_words"] = [len(findings.split()) for findings, _ in sections]
    table["impression_words"] = [len(impression.split()) for _, impression in sections]
    for word in WORDS.get(name, ()):
        table[f"word_{word}"] = [int(word in " ".join(texts).lower()) for texts in sections]
    return table


def _load_mediqa(run: Run, metrics: Metrics) -> Content:
    """Return the content of MEDIQA 2021: one row per report, with numbers of words.

    The part ``impressions`` has the scores of pairs of impressions. The reference of each pair is normal;
    ``normal`` is 1 if the candidate is normal, otherwise 0, and ``case`` is the number of the reference.

    Raises
    ------
    ParameterError
        If the data root has no file of MEDIQA 2021.
    """
    root = _require_root(run, "mediqa2021")
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
    return Content(_count_words("mediqa2021", root), {"impressions": impressions})


def _load_openi(run: Run, metrics: Metrics) -> Content:
    """Return the content of Open-i: one row per report, with numbers of words.

    The parts ``sentences`` and ``pairs`` have the rules' answers on labelled sentences and on pairs of them.

    Raises
    ------
    ParameterError
        If the data root has no file of Open-i.
    """
    root = _require_root(run, "openi")
    sentences, pairs = labelled_sentences.load_counts_and_answers(run)
    return Content(_count_words("openi", root), {"sentences": sentences, "pairs": pairs})


def _load_mtsamples(run: Run, metrics: Metrics) -> Content:
    """Return the content of MTSamples, with one row per transcription.

    Columns are ``number``, ``case`` (the number of the distinct text), ``specialty`` (its number, from 1),
    numbers of words, and shares of the description that are copied from the transcription.

    Raises
    ------
    ParameterError
        If the data root has no file of MTSamples.
    """
    notes = readers.load("mtsamples", _require_root(run, "mtsamples"))
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


def _load_mslr(run: Run, metrics: Metrics) -> Content:
    """Return the content of MSLR: one row per summary of a review of trials, with ratings and scores.

    Raises
    ------
    ParameterError
        If the data root lacks the file of a rater.
    """
    for name in mslr.RATERS:
        _require_file(run, "mslr", f"{name}.tsv")
    return Content(trial_reviews.load_summaries(run, metrics))


def _load_systems(run: Run, metrics: Metrics) -> Content:
    """Return systems' reports for Open-i's test split; the docstring of the module describes the columns.

    Raises
    ------
    ParameterError
        If the data root lacks Open-i's reports or codes, or the systems' references or published scores.
    """
    reports = _require_file(run, "openi", "indiana_reports.csv")
    labels = _require_file(run, "openi_labels", openi.LABELS_FILE)
    references = _require_file(run, "iu_systems", iu_systems.REFERENCES)
    texts = system_sets.load_outputs(_require_root(run, "iu_systems"))
    released = pd.DataFrame(
        iu_systems.read_released_scores(
            _require_file(run, "iu_systems", iu_systems.SCORES), list(iu_systems.read_references(references))
        )
    )
    parts = {
        "variants": bleu_variants.compute_variants(texts, [*system_sets.FILES, system_sets.CONSTANT]),
        "released": released.reset_index(drop=True).rename_axis("study").reset_index().round(6),
        "codes": compare_with_codes(reports, labels, set(iu_systems.read_references(references))),
    }
    return Content(make_table(texts), parts, list(zip(texts["reference"], texts["candidate"], strict=True)))


def make_table(texts: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of ``iu_systems.csv``, except scores and numbers of words.

    ``texts`` is the table from :func:`radeval_lib.jobs.system_sets.load_outputs`.
    """

    def set_bits(members: frozenset[str], names: Sequence[str] = LABELS) -> int:
        return sum(1 << bit for bit, name in enumerate(names) if name in members)

    codes = {text: set_bits(read_codes(text)) for text in texts["candidate"].unique()}
    stated = {text: set_bits(select_positive(label(text)) - {NO_FINDING}, list_labels()) for text in codes}
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
            "gold": [set_bits(gold) for gold in texts["gold"]],
            "found": [codes[text] for text in texts["candidate"]],
            "stated": [stated[text] for text in texts["candidate"]],
            "masked": texts["reference"].str.contains("XXXX").astype(int),
            **{f"matched_{n}": counts[:, n - 1].astype(int) for n in range(1, 5)},
        }
    ).reset_index(drop=True)


def compare_with_codes(reports: Path, labels: Path, test_ids: set[str]) -> pd.DataFrame:
    """Compare the findings that the rules read in reports of Open-i with the codes that people gave them.

    These rules were fixed before the even half was scored:

    - sections: findings and impression, which the coders saw, are read; history and comparison are not;
    - uncertain mentions: a code counts if it is stated, probable or one of two ("scarring or atelectasis"),
      but not if it is merely possible ("may", "possibly", "cannot exclude", "concerning for"). In the odd
      half, people coded 39 of 59 of the former and 1 of 86 of the latter;
    - halves: reports with the same text are in the same half (:func:`radeval_lib.data.openi.assign_halves`);
      3,851 reports have 3,037 distinct texts. Confusions were corrected on the odd half alone, without the
      590 studies of the test split and without texts that equal one of theirs.

    Parameters
    ----------
    reports, labels : Open-i's files of reports and of codes.
    test_ids : ids of the studies in the test split.

    Returns
    -------
    DataFrame
        One row per part (:data:`HALVES`) and code, and one for all codes: ``half``, ``code``, ``reports``
        (number of reports), ``texts`` (number of distinct texts), ``both``, ``wrong`` and ``missed`` (numbers
        of codes by rules and people, by rules only, and by people only), and ``f1``. The row for all codes
        has micro F1 and the bounds of its 95% interval, ``low`` and ``high``, from resampling distinct texts.
    """
    studies, people = openi.load(reports), {study.id: study.codes for study in openi.load_labels(labels)}
    half, rng = openi.assign_halves(studies), np.random.default_rng(0)
    even = [report for report in studies if half[report.id] == "even"]
    split = [report for report in studies if report.id in test_ids]
    rows: list[tuple[object, ...]] = []
    for name, part in zip(HALVES, (even, split, openi.select_development(studies, test_ids)), strict=True):
        texts, keys = pd.factorize(pd.Series([openi.join_words(report) for report in part]))
        read = [read_codes(f"{reveal(report.findings)}\n{reveal(report.impression)}") for report in part]
        gold = np.array([[key in people[report.id] for key in LABELS] for report in part])
        by_rules = np.array([[key in codes for key in LABELS] for codes in read])
        counts = np.stack([gold & by_rules, ~gold & by_rules, gold & ~by_rules], axis=-1).astype(np.int64)
        sizes = (len(part), len(keys))
        by_code = counts.sum(axis=0)
        for key, numbers in zip(LABELS, by_code.tolist(), strict=True):
            rows.append((name, key, *sizes, *numbers, float(compute_f1(numbers)), None, None))
        sums = np.zeros((len(keys), 3))
        np.add.at(sums, texts, counts.sum(axis=1))
        (micro,) = sum_estimates(sums, lambda drawn: compute_f1(drawn)[..., None], resamples=2_000, rng=rng)
        rows.append(
            (name, ALL_CODES, *sizes, *map(int, sums.sum(axis=0)), micro.value, micro.low, micro.high)
        )
    columns = ["half", "code", "reports", "texts", "both", "wrong", "missed", "f1", "low", "high"]
    return pd.DataFrame(rows, columns=columns).round(6)


def compute_f1(sums: ArrayLike) -> NDArray[np.float64]:
    """Return the micro F1 (0 to 1) that follows from numbers of codes; 1 if all three numbers are 0.

    The last axis of ``sums`` has the numbers of codes by rules and people, by rules only (wrong) and by
    people only (missed). The result lacks this axis.
    """
    both, wrong, missed = np.moveaxis(np.asarray(sums, np.float64), -1, 0)
    total = 2 * both + wrong + missed
    return np.divide(2 * both, total, out=np.ones_like(total), where=total > 0)


SETS: dict[str, Callable[[Run, Metrics], Content]] = {
    "radpref": _load_radpref,
    "mts_dialog": _load_mts_dialog,
    "fingerprints": _load_fingerprints,
    "mediqa2021": _load_mediqa,
    "mslr": _load_mslr,
    "mtsamples": _load_mtsamples,
    "openi": _load_openi,
    "iu_systems": _load_systems,
}
"""A mapping from each set to the function that returns its content."""


def find_kept_columns(name: str, metrics: Metrics) -> pd.DataFrame:
    """Return the stored columns that must be kept, because the set was scored with frozen rules.

    Frozen rules were fixed before they met the set. If the rules have changed since then, the table has the
    columns of rule-based metrics and of the rule-based judge. If the rules have not changed, or the set is
    not frozen or not stored, the table is empty.
    """
    if name not in recorded.names() or name not in recordings.FROZEN_SETS:
        return pd.DataFrame()
    frozen = registry.FROZEN_METRICS
    if not any(recordings.is_out_of_date(name, metrics[key]) for key in frozen):
        return pd.DataFrame()
    table = recorded.load(name).table
    return table[[key for key in (*frozen, *JUDGE_COLUMNS) if key in table]]


def judge_by_rules(pairs: Pairs) -> pd.DataFrame:
    """Return the rule-based judge's counts, with one row per pair of reference and candidate.

    The columns are :data:`JUDGE_COLUMNS`: numbers of significant errors, other errors and matched findings.
    """
    rows = []
    for pair in pairs:
        judgement = judge_pair(*pair)
        significant = sum(error.significant for error in judgement.errors)
        rows.append((significant, len(judgement.errors) - significant, judgement.matched_findings))
    return pd.DataFrame(rows, columns=JUDGE_COLUMNS)


def score_variants(run: Run, metric: Any, pairs: Pairs) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the scores by RaTEScore with other weights and encoders, and a description of each column.

    The table has one row per pair and the columns :data:`radeval_lib.jobs.learned_weights.RECORDED`. The
    descriptions are a mapping from column to description.
    """
    entities = learned_weights.tag_pairs(metric, *zip(*pairs, strict=True))
    by_setting = learned_weights.scores_by_setting(run, entities)
    columns = dict(zip(learned_weights.RECORDED, by_setting.values(), strict=True))
    roles = ("encoder", "ner_model", "rival_encoder")
    models = {role: dict(run.inputs.models[role]) for role in roles}
    description = {**describe_column(metric, run), "models": models}
    descriptions = {
        key: {**description, "settings": {"differs": title}}
        for key, title in zip(learned_weights.RECORDED, by_setting, strict=True)
    }
    return pd.DataFrame(columns).round(9), descriptions


def describe_column(metric: Metric, run: Run, *, published: bool = False) -> dict[str, Any]:
    """Return the description of a metric's column: title, settings, behaviour, signature, date and commit.

    ``published`` is whether the metric uses published models. If so, the behaviour (a digest of the metric's
    scores on fixed pairs) is left out.
    """
    return {
        "title": metric_label(metric, run.whole_profile.models),
        "settings": recordings.settings_text(metric),
        **({} if published else recordings.describe_behaviour(metric)),
        "signature": metric.signature(),
        "date": datetime.date.today().isoformat(),
        "commit": provenance.read_commit()["commit"],
    }


def describe_set(run: Run, name: str) -> dict[str, Any]:
    """Return the description of a set: title, source and licence, and the conditions of its scoring.

    The conditions are the SHA-256 of the files, the profile, the device, the models and the versions of
    packages.
    """
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
        "models": dict(sorted(run.inputs.models.items())),
        "packages": provenance.package_versions(),
    }


def compare_with_stored(run: Run, stored: Recording, content: Content, metrics: Metrics) -> pd.DataFrame:
    """Compare each stored column of numbers with the output of the current code and models.

    Returns
    -------
    DataFrame
        One row per column: ``table``; ``column``; ``case`` (*out of date*, *no model*, *the stored models* or
        *other models*); ``apart``, the largest absolute difference; ``mean``, the mean difference; ``tau``,
        the difference in τ_b with the set's ratings (NaN without models or ratings); and ``holds``, whether
        the difference is allowed: never if the column is out of date, up to 1.1e-9 without models, up to 1e-6
        with the stored models, and up to 0.02 in the mean and 0.03 in τ_b with other models.
    """
    stale = recordings.out_of_date(stored.name)
    rows = []
    tables = {"": (stored.table, content.table)}
    tables |= {part: (frame, content.parts[part]) for part, frame in stored.parts.items()}
    for part, (former, current) in tables.items():
        rating_columns = [rating for rating in RATINGS.get(stored.name, ()) if rating in former]
        ratings = former[rating_columns].mean(axis=1)
        for name in former.select_dtypes("number"):
            key = max((key for key in metrics if str(name).startswith(key)), key=len, default="")
            key = "green_rules" if str(name).startswith("rules_") else key
            roles = metrics[key].required_roles if key in metrics else ()
            digests = {role: run.inputs.models[role]["sha256"] for role in roles}
            models = stored.description["models"]
            is_same = all(models.get(role, {}).get("sha256") == digest for role, digest in digests.items())
            case = "no model" if not digests else "the stored models" if is_same else "other models"
            difference = current[name].to_numpy(float) - former[name].to_numpy(float)
            tau = np.nan
            if digests and rating_columns:
                taus = [coefficient(frame[name], ratings, "kendall") for frame in (current, former)]
                tau = taus[0] - taus[1]
            largest = float(np.nanmax(np.abs(difference), initial=0))
            holds = largest <= (_NEARLY_SAME if digests else _SAME)
            if case == "other models":
                holds = abs(np.nanmean(difference)) <= _NEAR_MEAN and not abs(tau) > _NEAR_TAU
            if key in stale or CHOOSERS.get(stored.name) in stale or (stale and not key and largest):
                case, holds = "out of date", False
            rows.append((part, name, case, largest, float(np.nanmean(difference)), tau, bool(holds)))
    return pd.DataFrame(rows, columns=["table", "column", "case", "apart", "mean", "tau", "holds"])


def write(folder: Path, name: str, content: Content, description: Mapping[str, Any]) -> Path:
    """Write the tables and the description of a set to ``folder``, and return the path of the main table.

    The SHA-256 of each table is added to the description. All files are replaced together, or none.
    """
    tables = {f"{name}.csv": content.table}
    tables |= {f"{name}_{part}.csv": frame for part, frame in content.parts.items()}
    texts = {file: frame.to_csv(index=False) for file, frame in tables.items()}
    described = {**description, "tables": {file: checksums.of_text(text) for file, text in texts.items()}}
    texts[f"{name}.yml"] = yaml.safe_dump(described, sort_keys=False, allow_unicode=True, width=110)
    folder.mkdir(exist_ok=True)
    with atomic.new_files(*(folder / file for file in texts)) as new_paths:
        for path, text in zip(new_paths, texts.values(), strict=True):
            path.write_text(text, encoding="utf-8")
    recorded.load.cache_clear()
    return folder / f"{name}.csv"
