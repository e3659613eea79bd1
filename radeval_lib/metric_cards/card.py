"""``metric_card(function) -> Card``: test a metric, and show the results as table, paragraph, JSON and
page."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from radeval_lib import atomic, data, own_yaml, provenance
from radeval_lib.data import recorded as stored
from radeval_lib.errors import check_choice, list_names, to_line
from radeval_lib.metric_cards import measurements, pairs
from radeval_lib.metric_cards.measurements import PERSON, Half, load_rivals
from radeval_lib.metric_cards.pairs import Progress, fill_failures, score
from radeval_lib.metrics import by_name
from radeval_lib.metrics.base import Metric, MetricError
from radeval_lib.metrics.by_name import choose
from radeval_lib.metrics.compare import select_bibtex
from radeval_lib.metrics.file_scoring import check_target
from radeval_lib.metrics.report import hash_content
from radeval_lib.paths import DATA
from radeval_lib.stats.base import FloatArray
from radeval_lib.stats.correlations import varies
from radeval_lib.stats.system_comparison import LEVEL
from radeval_lib.text_format import environment, joined, with_interval

SCHEMA = 3
"""Version of the format of a card's JSON file."""
RADPREF_RESAMPLES = 5_000
"""Bootstrap resamples for the agreement with RadPref."""
Tuned = Literal["yes", "no", "unknown"]
_TUNING_SENTENCES = {
    "yes": "Its author declares that it was fitted to RadPref: its agreement there is no evidence.",
    "no": "Its author declares that nothing of it was fitted to RadPref.",
    "unknown": "Whether it was fitted to RadPref is not declared.",
}
_CITATION_KEYS = {
    "radpref": "baharoon2026crimson",
    "mts_dialog": "benabacha2023mts",
    "openi": "demnerfushman2016openi",
}
_CONSTANT_SHARE = 0.9  # a metric is called nearly constant if one score is this frequent


@dataclass(frozen=True)
class Card:
    """The report card of a metric, from :func:`metric_card`.

    Attributes
    ----------
    data : the content of the card, in JSON types: ``schema`` (version of the format), ``metric`` (name,
        direction, range and other declarations), ``settings``, ``pairs`` (number of pairs, by part),
        ``edited`` (source of the edited reports), ``faults`` (a sentence for each fault that the checks
        found), ``radpref``, ``mts_dialog``, ``edits``, ``behaviour`` and ``systems`` (results of
        :mod:`~radeval_lib.metric_cards.measurements`), ``not_tried`` (a mapping from missing measurement to
        reason), and the versions of ``python``, ``platform`` and ``packages``. ``radpref``, ``mts_dialog``
        and ``systems`` are None if they were not measured.
    scores : one row per scored pair, with ``id``, ``part``, ``row``, ``kind`` (as in
        :func:`radeval_lib.metric_cards.pairs.build`) and ``score``, which is NaN for a failure.
    message : type and message of the metric's first exception; empty if there was none.
    """

    data: dict[str, Any]
    scores: pd.DataFrame = field(repr=False)
    message: str = field(default="", repr=False)

    @property
    def name(self) -> str:
        """The name by which the card calls the metric."""
        return str(self.data["metric"]["name"])

    def __str__(self) -> str:
        """Return :attr:`paragraph` and :meth:`table` as plain text."""
        return f"{self.paragraph}\n\n{self.table().to_string(index=False)}"

    def _repr_html_(self) -> str:
        """Return the sentences and :meth:`table` as HTML, for a notebook."""
        sentences = pd.DataFrame({"": self.sentences()})
        with pd.option_context("display.max_colwidth", None):
            return f"{sentences.to_html(index=False, header=False)}{self.table().to_html(index=False)}"

    @property
    def paragraph(self) -> str:
        """The results as a paragraph, which begins with the faults that the checks found."""
        return " ".join(self.sentences())

    def sentences(self) -> list[str]:
        """Return the sentences of :attr:`paragraph`, in order."""
        version = self.data["packages"].get("radeval-lib", "")
        seed = self.data["settings"]["seed"]
        origin = f"(Metric card of radeval-lib {version}, seed {seed}.)"
        return [*self.data["faults"], *self._describe_radpref(), *self._describe_facts_and_edits(), origin]

    def rivals(self) -> list[dict[str, Any]]:
        """Return the rows of ``data["radpref"]`` for the stored metrics that this metric was tested against.

        The list is empty if nothing was tested, as with a half of RadPref.
        """
        return [row for row in (self.data["radpref"] or {}).get("rows", []) if "p_holm" in row]

    def row(self, metric: str) -> dict[str, Any]:
        """Return the row of ``data["radpref"]``, which must not be None, for a metric.

        Raises StopIteration if there is no such row.
        """
        return next(row for row in self.data["radpref"]["rows"] if row["metric"] == metric)

    def _describe_radpref(self) -> list[str]:
        """Return the sentences on agreement with the radiologists of RadPref."""
        radpref = self.data["radpref"]
        if radpref is None:
            return [f"“{self.name}”: agreement with radiologists was not measured."]
        own_row, person = self.row(self.name), self.row(PERSON)
        uses = own_yaml.read(Path(__file__).parents[1] / "jobs" / "freeze.yml")["scored"]
        return [
            *self._describe_rivals(),
            f"With the mean of two radiologists it reaches {own_row['others']:.2f}, the third radiologist "
            f"{person['others']:.2f}.",
            _TUNING_SENTENCES[self.data["metric"]["tuned_on_radpref"]],
            f"Rule-based metrics may look too good: RadPref was scored {uses} times in their development.",
        ]

    def _describe_rivals(self) -> list[str]:
        """Return sentences on τ_b with the mean grade and on the tests against stored metrics, if any."""
        radpref, own_row, rivals = self.data["radpref"], self.row(self.name), self.rivals()
        low, high = radpref["null_band"]
        tau = _format_result(own_row, "value")
        region = "within" if low <= own_row["value"] <= high else "outside"
        tau_sentence = (
            f"Its τ_b with the mean grade is {tau}, {region} the {low:+.2f} to {high:+.2f} of random scores."
        )
        data_used = f"RadPref, {radpref['candidates']} candidates for {radpref['cases']} distinct references"
        if not rivals:
            return [f"“{self.name}” was not tested against the stored metrics ({data_used}).", tau_sentence]
        best = max(rivals, key=lambda row: row["value"])
        verdict = f"is not shown to differ from {best['metric']}"
        if best["p_holm"] < LEVEL:
            label = "better" if best["difference"] > 0 else "worse"
            verdict = f"agrees {label} with radiologists than {best['metric']}"
        groups: dict[str, list[str]] = {"better than": [], "worse than": [], "not shown to differ from": []}
        for row in rivals:
            label = "better than" if row["difference"] > 0 else "worse than"
            groups[label if row["p_holm"] < LEVEL else "not shown to differ from"].append(row["metric"])
        gap, p = _format_result(best, "difference", "+.2f"), f"{best['p_holm']:.2g}"
        return [
            f"“{self.name}” {verdict}, the best of {len(rivals)} stored metrics (difference in τ_b "
            f"{gap}, p = {p} after Holm’s correction; {data_used}).",
            tau_sentence,
            f"It is {joined([f'{label} {joined(names)}' for label, names in groups.items() if names])}.",
            f"Power is 80% for a difference of {radpref['detectable']:.2f} (median over stored metrics).",
        ]

    def _describe_facts_and_edits(self) -> list[str]:
        """Return sentences on counted facts and on the costs of two edits, if these were measured."""
        texts = []
        if row := self._index_facts().get(self.name):
            value = _format_result(row, "value")
            texts.append(f"Its τ_b with F1 of counted facts in {row['n']} summaries (MTS-Dialog): {value}.")
        edits = self.edit_costs()
        deletion, rewording = edits.get("a “no” lost"), edits.get("in other words")
        if deletion and rewording and None not in (deletion["value"], rewording["value"]):
            texts.append(
                f"A lost “no” costs {format_cost(deletion)} of what an unrelated report costs; rewording a "
                f"report costs {format_cost(rewording)} ({self.data['edited']})."
            )
        elif deletion and rewording:
            texts.append("An unrelated report may score as high as an equal one, so edits have no cost.")
        return texts

    def _index_facts(self) -> dict[str, dict[str, Any]]:
        """Return a mapping from metric to its row of ``data["mts_dialog"]``; empty if not measured."""
        return {row["metric"]: row for row in self.data["mts_dialog"] or []}

    def edit_costs(self) -> dict[str, dict[str, Any]]:
        """Return a mapping from edit to its row of ``data["edits"]``."""
        return {row["edit"]: row for row in self.data["edits"]}

    def table(self) -> pd.DataFrame:
        """Return the agreement of every metric with human ratings, the card's metric first.

        Columns are ``metric``, ``τ_b``, ``difference``, ``p (Holm)``, ``choices``, ``with two radiologists``
        and ``facts``. If agreement on RadPref was not measured, the table has the columns ``edit`` and
        ``cost`` instead. Cells are strings, most with a confidence interval, such as ``0.55 [0.50, 0.60]``; a
        missing value is a dash.
        """
        if self.data["radpref"] is None:
            edits = self.edit_costs().items()
            return pd.DataFrame([{"edit": edit, "cost": format_cost(cost)} for edit, cost in edits])
        facts = self._index_facts()
        ordered_rows = sorted(
            self.data["radpref"]["rows"],
            key=lambda row: (row["metric"] != self.name, row["metric"] == PERSON, row["metric"].lower()),
        )
        rows = [
            {
                "metric": row["metric"],
                "τ_b": _format_result(row, "value"),
                "difference": _format_result(row, "difference", "+.2f"),
                "p (Holm)": f"{row['p_holm']:.2g}" if "p_holm" in row else "–",
                "choices": _format_result(row, "choices", ".0%"),
                "with two radiologists": _format_result(row, "others"),
                "facts": _format_result(facts.get(row["metric"], {}), "value"),
            }
            for row in ordered_rows
        ]
        return pd.DataFrame(rows)

    def bibtex(self) -> str:
        """Return the BibTeX entries of the data sets that the card uses, as one string."""
        set_names = {set_name for set_name in ("radpref", "mts_dialog") if self.data[set_name]}
        set_names |= {"openi"} if self.data["edited"].startswith("Open-i") else set()
        return select_bibtex(key for set_name, key in _CITATION_KEYS.items() if set_name in set_names)

    def html(self) -> str:
        """Return the card as an HTML page that loads no other file."""
        style = (Path(__file__).parents[1] / "metrics" / "report.css").read_text(encoding="utf-8")
        template = environment(Path(__file__).parent).get_template("card.html.j2")
        return str(template.render(card=self, style=style, hash=hash_content(style), cost=format_cost))

    def write(self, path: str | Path) -> list[Path]:
        """Write the card as an HTML page and four other files, and return the five paths.

        The page is written to ``path``. The files beside it have the same name but end in ``.json``
        (:attr:`data`), ``.csv`` and ``.tex`` (:meth:`table`) and ``.bib`` (:meth:`bibtex`).

        Raises
        ------
        MetricError
            If the folder of ``path`` does not exist, one of the five paths is not that of a regular file, or
            ``path`` itself ends in ``.json``, ``.csv``, ``.tex`` or ``.bib``.
        OSError
            If a file cannot be written.
        """
        target, table = Path(path), self.table()
        latex = table.rename(columns={"τ_b": "tau b"}).to_latex(index=False, escape=True)
        content = {
            target: self.html(),
            target.with_suffix(".json"): json.dumps(self.data, indent=1, ensure_ascii=False, allow_nan=False),
            target.with_suffix(".csv"): table.to_csv(index=False),
            target.with_suffix(".tex"): latex,
            target.with_suffix(".bib"): self.bibtex(),
        }
        if len(content) < 5:
            problem = f"the page ends in {target.suffix}, as a file beside it does"
            raise MetricError(problem, target.name, "Give the page a name that ends in .html.")
        for file in content:
            check_target(file, example="card.html")
        with atomic.new_files(*content) as parts:
            for part, text in zip(parts, content.values(), strict=True):
                part.write_text(f"{text.rstrip()}\n", encoding="utf-8")
        return list(content)


def _format_result(row: Mapping[str, Any], name: str, form: str = ".2f") -> str:
    """Return the value ``name`` of a result with its confidence interval, as a string.

    The bounds are ``<name>_low`` and ``<name>_high`` of ``row``; ``form`` is the format of the numbers. A
    missing value gives a dash.
    """
    if row.get(name) is None:
        return "–"
    return with_interval(row[name], row[f"{name}_low"], row[f"{name}_high"], form)


def format_cost(cost: Mapping[str, Any]) -> str:
    """Return a cost in percent with its confidence interval, as a string; a dash if the cost is None.

    ``cost`` has the shares ``value``, ``low`` and ``high``. If both bounds round to the same integer percent,
    one decimal is shown. If they are equal even then, the interval is left out.

    >>> bounds = ((0.01, 0.03), (0.018, 0.024), (0.021, 0.021))
    >>> [format_cost({"value": 0.021, "low": low, "high": high}) for low, high in bounds]
    ['2% [1%, 3%]', '2.1% [1.8%, 2.4%]', '2%']
    """
    if cost["value"] is None:
        return "–"
    bounds = [cost["low"], cost["high"]]
    for form in ("z.0%", "z.1%"):
        low, high = (f"{bound:{form}}" for bound in bounds)
        if low != high:
            return f"{cost['value']:{form}} [{low}, {high}]"
    return f"{cost['value']:z.0%}"


def metric_card(
    metric: Callable[..., Any] | str | Metric | Mapping[str, float],
    *,
    name: str = "",
    batched: bool = False,
    higher_is_better: bool = True,
    value_range: tuple[float, float] | None = None,
    tuned: Tuned = "unknown",
    half: Half = "all",
    quick: bool = False,
    systems: bool = False,
    data_root: str | Path | None = "",
    rated_scores: Mapping[str, FloatArray] | None = None,
    seed: int = 0,
    progress: Progress = lambda done, share: None,
) -> Card:
    """Test a metric, and return its report card.

    Parameters
    ----------
    metric : a function ``(reference, candidate) -> number``, or ``(candidate, reference)`` if its
        parameters have such names; a metric of this library or its name; or a mapping from the ``id`` of each
        pair of :func:`radeval_lib.metric_cards.pairs.build` to its score.
    name : the metric's name on the card; by default, the name of the function. ``(this card)`` is added to a
        name that is the title of a metric of this library. Ignored for such a metric itself.
    batched : whether the function takes two lists of strings and returns a number per pair.
    higher_is_better, value_range : the direction, and the lowest and highest possible score, as the author
        declares them. Like ``tuned``, ignored for a metric of this library.
    tuned : whether any part of the metric was fitted to RadPref's ratings.
    half : the part of RadPref to use: ``all`` cases, or a fixed half of them (``development`` or ``report``),
        on which no difference is tested.
    quick : whether to edit 30 reports instead of 100.
    systems : whether to score reports of real systems on Open-i as well.
    data_root : the folder with RadPref, MTS-Dialog and Open-i; empty for ``RADEVAL_DATA_ROOT`` or the
        repository's ``data``. None for no data: then only edits of generated reports are scored.
    rated_scores : a mapping from rated set (:data:`radeval_lib.metric_cards.pairs.RATED`) to the metric's
        scores, one per row of the set's stored table. Sets given here are not scored.
    seed : the seed of resampling and permutation, 0 or more.
    progress : called with the number of pairs scored and their share, from 0 to 1; first with zeros.

    Raises
    ------
    MetricError
        If the metric is unknown or scores no pair, or an argument is not as described.
    DataError
        If the data root does not exist, or a file in it differs from its manifest or is malformed.
    """
    for value, choices, where in ((half, Half, "half"), (tuned, Tuned, "tuned")):
        check_choice(value, choices, where, MetricError)
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise MetricError(f"{seed!r} is not an integer >= 0", "seed", "Set it to an integer >= 0.")
    key, substitute = "", ""
    if isinstance(metric, str):
        by_name.get(metric)
        chosen = choose(metric)
        substitute = chosen.substitutes.get(metric, "")
        metric = chosen.metrics[metric]
    if isinstance(metric, Metric):
        key, name = metric.name, metric.title or metric.name
        higher_is_better, value_range, tuned = metric.higher_is_better, metric.bounds(), "no"
    else:
        name = name or getattr(metric, "__name__", "the metric")
        if name in [by_name.get(other).title or other for other in by_name.names()]:
            name = f"{name} (this card)"
    if to_line(name, 60) != name or not name.strip():
        raise MetricError(f"{name!r} is not a valid name", "name", "Use 1 to 60 printable characters.")
    if value_range is not None and not value_range[0] < value_range[1]:
        raise MetricError(f"{value_range} is no range", "range", "Give the lower, then the higher bound.")
    root, sign = resolve_data_root(data_root), 1 if higher_is_better else -1
    recordings = {label: stored.load(label) for label in pairs.RATED}
    set_scores = _find_known_scores(recordings, rated_scores or {}, key)
    unscored_sets = [label for label in recordings if label not in set_scores]
    frame = pairs.build(root, quick=quick, systems=systems, rated=unscored_sets)
    progress(0, 0.0)
    scored = score(metric, frame, batched=batched, progress=progress)
    parts = frame["part"].to_numpy()
    set_scores |= {label: scored.values[parts == label] for label in unscored_sets if label in parts}
    settings = {"seed": seed, "quick": quick, "half": half, "resamples": RADPREF_RESAMPLES}
    not_tried = {"the metric with its published models": substitute} if substitute else {}
    content: dict[str, Any] = dict.fromkeys((*pairs.RATED, "systems"))
    for label, recording in recordings.items():
        agreement: Any = "no data root has its texts"
        if label in set_scores:
            agreement = _measure_agreement(recording, sign * set_scores[label], name, key, settings)
        if isinstance(agreement, str):
            not_tried[f"agreement on {label}"] = agreement
        else:
            content[label] = agreement
    oriented = fill_failures(frame, sign * scored.values)
    if "systems" in parts:
        content["systems"] = measurements.measure_systems(frame, oriented, sign=sign, seed=seed)
    elif systems:
        not_tried["reports of real systems"] = "no data root has them"
    n_failures = int((~np.isfinite(set_scores.get("radpref", np.zeros(0)))).sum())
    card_data = {
        "schema": SCHEMA,
        "metric": {
            "name": name,
            "signature": metric.signature() if isinstance(metric, Metric) else None,
            "higher_is_better": higher_is_better,
            "range": value_range,
            "tuned_on_radpref": tuned,
        },
        "settings": settings,
        "pairs": frame["part"].value_counts(sort=False).to_dict(),
        "edited": frame.attrs["source"],
        "faults": [],
        **content,
        "edits": measurements.measure_costs(frame, oriented, seed=seed),
        "behaviour": measurements.measure_behaviour(frame, scored, value_range, sign=sign),
        "not_tried": not_tried,
        **provenance.environment(),
    }
    card_data["faults"] = find_faults(card_data, n_failures)
    table = frame[["id", "part", "row", "kind"]].assign(score=scored.values)
    # JSON has no NaN or infinity; these become None.
    as_json = json.dumps(card_data, default=lambda number: number.item())
    return Card(json.loads(as_json, parse_constant=lambda _: None), table, scored.message)


def _find_known_scores(
    sets: Mapping[str, stored.Recording], rated_scores: Mapping[str, FloatArray], key: str
) -> dict[str, FloatArray]:
    """Return a mapping from rated set to scores that are known before scoring.

    The known scores are ``rated_scores`` and the stored scores of this library's metric ``key``, which take
    precedence; ``key`` is empty for another metric.

    Raises
    ------
    MetricError
        If ``rated_scores`` has an unknown set, or a wrong number of scores for a set.
    """
    known_scores = {label: np.asarray(values, dtype=np.float64) for label, values in rated_scores.items()}
    for label, values in known_scores.items():
        if label not in sets or values.shape != (len(sets[label].table),):
            numbers = list_names(f"{len(sets[name].table):,} scores for {name!r}" for name in sets)
            raise MetricError(f"{label!r} has shape {values.shape}", "rated_scores", f"Pass {numbers}.")
    for label, recording in sets.items():
        if key in recording.description["columns"]:
            known_scores[label] = recording.table[key].to_numpy(np.float64)
    return known_scores


def _measure_agreement(
    recording: stored.Recording, oriented: FloatArray, name: str, key: str, settings: Mapping[str, Any]
) -> dict[str, Any] | list[dict[str, Any]] | str:
    """Return a metric's agreement with the human ratings of a set.

    Parameters
    ----------
    recording : the stored set, with its ratings and the scores of other metrics.
    oriented : a score per row of the set (higher is better). NaN and infinite scores count as the lowest
        finite score.
    name : title of the metric on the card.
    key : name of the metric in this library, whose stored scores are not a rival; empty for another metric.
    settings : the card's ``half``, ``resamples`` and ``seed``.

    Returns
    -------
    dict, list or str
        For RadPref, the dictionary of :func:`~radeval_lib.metric_cards.measurements.measure_radpref`; for
        counted facts, the list of :func:`~radeval_lib.metric_cards.measurements.correlate_with_fact_f1`. If
        the agreement cannot be measured, a string that says why.
    """
    finite, cases = np.isfinite(oriented), recording.table["case"].to_numpy()
    if not finite.any():
        return "none of its pairs got a score"
    all_scores = {name: np.where(finite, oriented, oriented[finite].min())} | load_rivals(recording, key)
    mask = measurements.select_half(cases, settings["half"] if recording.name == "radpref" else "all")
    scores, seed = {title: values[mask] for title, values in all_scores.items()}, settings["seed"]
    if not varies(scores[name], cases[mask]):
        return "nearly all pairs have the same score"
    if recording.name != "radpref":
        return measurements.correlate_with_fact_f1(recording.table, scores, seed=seed)
    options = {"resamples": settings["resamples"], "seed": seed, "with_tests": settings["half"] == "all"}
    return measurements.measure_radpref(recording.table[mask], scores, name, **options)


def find_faults(card_data: Mapping[str, Any], failed_on_radpref: int) -> list[str]:
    """Return a sentence for each fault of a metric, such as scores that are not repeatable.

    Parameters
    ----------
    card_data : the content of a card; its ``faults`` are not read.
    failed_on_radpref : number of pairs of RadPref without a score.
    """
    behaviour, metric = card_data["behaviour"], card_data["metric"]
    faults = list[str]()
    for repeated, fault, when in (
        (behaviour["again"], "Not repeatable", "the second time"),
        (behaviour["alone"], "Dependent on the batch", "alone than among others"),
    ):
        if repeated and repeated["differ"]:
            problem = f"{repeated['differ']} of {repeated['pairs']} pairs score differently {when}"
            faults.append(f"{fault}: {problem}, by up to {repeated['most']:.2g}.")
    if behaviour["commonest_share"] >= _CONSTANT_SHARE:
        faults.append(f"Nearly constant: {behaviour['commonest_share']:.0%} of pairs have one score.")
    elif behaviour["identical_below_unrelated"] > 0.5:
        flag = "give --lower-is-better" if metric["higher_is_better"] else "leave out --lower-is-better"
        share = f"{behaviour['identical_below_unrelated']:.0%}"
        problem = f"in {share} of reports an equal text scores worse than an unrelated one"
        faults.append(f"The direction looks wrong: {problem}; to reverse it, {flag}.")
    if behaviour["outside_range"]:
        low, high = metric["range"]
        observed = "{:.4g} to {:.4g} are seen".format(*behaviour["range_seen"])
        count = f"{behaviour['outside_range']:,} scores"
        faults.append(f"Outside its range: {count}; {low:g} to {high:g} is declared, {observed}.")
    total = sum(behaviour["failures"].values())
    if total or failed_on_radpref:
        missing = f"{failed_on_radpref} pairs of RadPref and {total:,} of all {behaviour['pairs']:,} scored"
        faults.append(f"No score for {missing}; they count as the worst.")
    if card_data["settings"]["quick"]:
        faults.append("Made with --quick: fewer reports were edited.")
    return faults


def resolve_data_root(folder: str | Path | None) -> Path | None:
    """Return the folder of data files, or None if there is none or ``folder`` is None.

    If ``folder`` is empty, ``RADEVAL_DATA_ROOT`` is used or, if that is not set, the repository's ``data``.
    Raises DataError if ``folder`` or ``RADEVAL_DATA_ROOT`` names a folder that does not exist.
    """
    if folder is None or not (str(folder) or os.environ.get("RADEVAL_DATA_ROOT") or DATA.is_dir()):
        return None
    return data.data_root(str(folder) or None)
