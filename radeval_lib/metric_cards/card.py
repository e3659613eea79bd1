"""The report card of a metric, as table, paragraph, JSON and page: ``metric_card(function) -> Card``."""

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
from radeval_lib.errors import check_choice, listed, plain
from radeval_lib.metric_cards import measurements, pairs
from radeval_lib.metric_cards.measurements import PERSON, Half
from radeval_lib.metric_cards.pairs import Progress, fill_failures, score
from radeval_lib.metrics import by_name
from radeval_lib.metrics.base import Metric, MetricError
from radeval_lib.metrics.by_name import choose
from radeval_lib.metrics.compare import bibtex
from radeval_lib.metrics.file_scoring import check_target
from radeval_lib.metrics.report import content_hash
from radeval_lib.paths import DATA
from radeval_lib.stats.base import FloatArray
from radeval_lib.stats.correlations import varies
from radeval_lib.stats.system_comparison import LEVEL
from radeval_lib.text_format import environment, joined, with_interval

SCHEMA = 3
"""The version of the format of a card's JSON."""
RADPREF_RESAMPLES = 5_000
Tuned = Literal["yes", "no", "unknown"]
_TUNED = {
    "yes": "Its author declares that it was fitted to RadPref: its agreement there is no evidence.",
    "no": "Its author declares that nothing of it was fitted to RadPref.",
    "unknown": "Whether it was fitted to RadPref is not declared.",
}
_CITED = {
    "radpref": "baharoon2026crimson",
    "mts_dialog": "benabacha2023mts",
    "openi": "demnerfushman2016openi",
}
_CONSTANT = 0.9  # a metric that gives so large a share of pairs one score is nearly constant


@dataclass(frozen=True)
class Card:
    """The report card of a metric.

    Attributes
    ----------
    data : its content, ready for JSON: ``metric`` (name, direction, range and other declarations),
        ``settings``, ``faults`` (a sentence for each fault that the checks find), ``radpref``
        (:func:`~radeval_lib.metric_cards.measurements.on_radpref`), ``mts_dialog``
        (:func:`~radeval_lib.metric_cards.measurements.on_facts`), ``edits``, ``behaviour`` and ``systems``
        (:mod:`~radeval_lib.metric_cards.measurements`), each None if it was not tried; ``not_tried``, why.
    scores : the pairs, without texts, and the metric's ``score`` of each.
    message : the message of the metric's first exception; empty if there was none.
    """

    data: dict[str, Any]
    scores: pd.DataFrame = field(repr=False)
    message: str = field(default="", repr=False)

    @property
    def name(self) -> str:
        """The metric's name on the card."""
        return str(self.data["metric"]["name"])

    def __str__(self) -> str:
        return f"{self.paragraph}\n\n{self.table().to_string(index=False)}"

    def _repr_html_(self) -> str:
        sentences = pd.DataFrame({"": self.sentences()})
        with pd.option_context("display.max_colwidth", None):
            return f"{sentences.to_html(index=False, header=False)}{self.table().to_html(index=False)}"

    @property
    def paragraph(self) -> str:
        """A paragraph for a methods or results section; problems that the checks found come first."""
        return " ".join(self.sentences())

    def sentences(self) -> list[str]:
        """Return the sentences of :attr:`paragraph`."""
        version = self.data["packages"].get("radeval-lib", "")
        seed = self.data["settings"]["seed"]
        made = f"(Metric card of radeval-lib {version}, seed {seed}.)"
        return [*self.data["faults"], *self._on_radpref(), *self._on_others(), made]

    def rivals(self) -> list[dict[str, Any]]:
        """Return the results of the stored metrics that this metric was tested against."""
        return [row for row in (self.data["radpref"] or {}).get("rows", []) if "p_holm" in row]

    def row(self, metric: str) -> dict[str, Any]:
        """Return the results of a metric on RadPref."""
        return next(row for row in self.data["radpref"]["rows"] if row["metric"] == metric)

    def _on_radpref(self) -> list[str]:
        radpref = self.data["radpref"]
        if radpref is None:
            return [f"“{self.name}”: agreement with radiologists was not measured."]
        mine, person = self.row(self.name), self.row(PERSON)
        looks = own_yaml.read(Path(__file__).parents[1] / "jobs" / "freeze.yml")["scored"]
        return [
            *self._on_rivals(),
            f"With the mean of two radiologists it reaches {mine['others']:.2f}, the third radiologist "
            f"{person['others']:.2f}.",
            _TUNED[self.data["metric"]["tuned_on_radpref"]],
            f"Metrics by rules look too good: RadPref was scored {looks} times while they changed.",
        ]

    def _on_rivals(self) -> list[str]:
        """Return the sentences on agreement with radiologists, beside the stored metrics if it was tested."""
        radpref, mine, rivals = self.data["radpref"], self.row(self.name), self.rivals()
        low, high = radpref["null_band"]
        tau = with_interval(mine["value"], mine["value_low"], mine["value_high"], ".2f")
        chance = "within" if low <= mine["value"] <= high else "outside"
        reached = (
            f"Its τ_b with the mean grade is {tau}, {chance} the {low:+.2f} to {high:+.2f} of random scores."
        )
        of = f"{radpref['candidates']} candidates of {radpref['cases']} cases of RadPref"
        if not rivals:
            return [f"“{self.name}” was not tested against the stored metrics ({of}).", reached]
        best = max(rivals, key=lambda row: row["value"])
        verdict = f"is not shown to differ from {best['metric']}"
        if best["p_holm"] < LEVEL:
            side = "better" if best["difference"] > 0 else "worse"
            verdict = f"agrees {side} with radiologists than {best['metric']}"
        sides: dict[str, list[str]] = {"better than": [], "worse than": [], "not shown to differ from": []}
        for row in rivals:
            side = "better than" if row["difference"] > 0 else "worse than"
            sides[side if row["p_holm"] < LEVEL else "not shown to differ from"].append(row["metric"])
        gap, p = _cell(best, "difference", "+.2f"), f"{best['p_holm']:.2g}"
        return [
            f"“{self.name}” {verdict}, the best of {len(rivals)} stored metrics (difference in τ_b "
            f"{gap}, p = {p} after Holm’s correction; {of}).",
            reached,
            f"It is {joined([f'{side} {joined(names)}' for side, names in sides.items() if names])}.",
            f"A difference below about {radpref['detectable']:.2f} is missed more than once in five.",
        ]

    def _on_others(self) -> list[str]:
        texts = []
        if row := self._facts().get(self.name):
            value = _cell(row, "value")
            texts.append(f"Its τ_b with F1 of counted facts in {row['n']} summaries (MTS-Dialog): {value}.")
        edits = self.edit_costs()
        lost, words = edits.get("a “no” lost"), edits.get("in other words")
        if lost and words and lost["value"] is not None and words["value"] is not None:
            texts.append(
                f"A lost “no” costs {cost_in_words(lost)} of what an unrelated report costs, the same report "
                f"in other words {cost_in_words(words)} ({self.data['edited']})."
            )
        elif lost and words:
            texts.append("An unrelated report does not surely score below an equal one: edits have no price.")
        return texts

    def _facts(self) -> dict[str, dict[str, Any]]:
        return {row["metric"]: row for row in self.data["mts_dialog"] or []}

    def edit_costs(self) -> dict[str, dict[str, Any]]:
        """Return the results of each edit by its name."""
        return {row["edit"]: row for row in self.data["edits"]}

    def table(self) -> pd.DataFrame:
        """Return the agreement of every metric with people, as texts; without RadPref the costs of edits."""
        if self.data["radpref"] is None:
            edits = self.edit_costs().items()
            return pd.DataFrame([{"edit": edit, "cost": cost_in_words(cost)} for edit, cost in edits])
        facts = self._facts()
        order = sorted(
            self.data["radpref"]["rows"],
            key=lambda row: (row["metric"] != self.name, row["metric"] == PERSON, row["metric"].lower()),
        )
        rows = [
            {
                "metric": row["metric"],
                "τ_b": _cell(row, "value"),
                "difference": _cell(row, "difference", "+.2f"),
                "p (Holm)": f"{row['p_holm']:.2g}" if "p_holm" in row else "–",
                "choices": _cell(row, "choices", ".0%"),
                "with two radiologists": _cell(row, "others"),
                "facts": _cell(facts.get(row["metric"], {}), "value"),
            }
            for row in order
        ]
        return pd.DataFrame(rows)

    def bibtex(self) -> str:
        """Return the BibTeX entries of the data that the card rests on."""
        used = {name for name in ("radpref", "mts_dialog") if self.data[name]}
        used |= {"openi"} if self.data["edited"].startswith("Open-i") else set()
        return bibtex(key for name, key in _CITED.items() if name in used)

    def html(self) -> str:
        """Return the page, which loads no other file."""
        style = (Path(__file__).parents[1] / "metrics" / "report.css").read_text(encoding="utf-8")
        template = environment(Path(__file__).parent).get_template("card.html.j2")
        return str(template.render(card=self, style=style, hash=content_hash(style), cost=cost_in_words))

    def write(self, path: str | Path) -> list[Path]:
        """Write the page to ``path``, and its JSON, CSV, LaTeX and BibTeX beside it; return the files.

        Raises
        ------
        MetricError
            If a file cannot be written, or ``path`` ends like one of the files beside it.
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
            problem = "the page would replace a file written beside it"
            raise MetricError(problem, target.name, "Name it *.html.")
        for file in content:
            check_target(file, example="card.html")
        with atomic.new_files(*content) as parts:
            for part, text in zip(parts, content.values(), strict=True):
                part.write_text(f"{text.rstrip()}\n", encoding="utf-8")
        return list(content)


def _cell(row: Mapping[str, Any], name: str, form: str = ".2f") -> str:
    if row.get(name) is None:
        return "–"
    return with_interval(row[name], row[f"{name}_low"], row[f"{name}_high"], form)


def cost_in_words(cost: Mapping[str, Any]) -> str:
    """Return a cost in percent with its interval.

    It has a decimal if the ends are equal in whole percents, and no interval if they are still equal.

    >>> ends = ((0.01, 0.03), (0.018, 0.024), (0.021, 0.021))
    >>> [cost_in_words({"value": 0.021, "low": low, "high": high}) for low, high in ends]
    ['2% [1%, 3%]', '2.1% [1.8%, 2.4%]', '2%']
    """
    if cost["value"] is None:
        return "–"
    ends = [cost["low"], cost["high"]]
    for form in ("z.0%", "z.1%"):
        low, high = (f"{end:{form}}" for end in ends)
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
    """Make the card of a metric.

    Parameters
    ----------
    metric : a function ``(reference, candidate) -> number``, or ``(candidate, reference)`` if its
        parameters have such names; a metric of this library or its name; or, by ``id``, the score of each
        pair of :func:`radeval_lib.metric_cards.pairs.build`.
    name : what the card calls it; default: the function's own name. A metric of this library has its own.
    batched : whether the function takes two lists of texts and gives a number for each pair.
    higher_is_better, value_range : as its author declares; a metric of this library has its own.
    tuned : whether any part of it was fitted to RadPref's ratings.
    half : ``development`` or ``report`` keeps to a fixed half of RadPref's cases.
    quick : whether fewer reports are edited.
    systems : whether committed outputs of real systems are scored too.
    data_root : the folder with RadPref, MTS-Dialog and Open-i; default: ``RADEVAL_DATA_ROOT``. Without
        one, or with None, only generated reports are edited.
    rated_scores : the scores of rated sets (:data:`radeval_lib.metric_cards.pairs.RATED`), by set, one for
        each row in its order; a set that is given is not scored.
    seed : of resampling and permutation, 0 or more.
    progress : called with the number of pairs scored and their share, first with 0 before any is scored.

    Raises
    ------
    MetricError
        If the metric is unknown or scores no pair, or an argument is not as described.
    """
    for value, choices, where in ((half, Half, "half"), (tuned, Tuned, "tuned")):
        check_choice(value, choices, where, MetricError)
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise MetricError(f"seed is {seed}", "seed", "Give a whole number, 0 or more.")
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
    if plain(name, 60) != name or not name.strip():
        raise MetricError(f"{name!r} cannot name a row of a table", "name", "Give a short printable name.")
    if value_range is not None and not value_range[0] < value_range[1]:
        raise MetricError(f"the range {value_range} is empty", "range", "Give the lower end first.")
    root, sign = root_of(data_root), 1 if higher_is_better else -1
    sets = {label: stored.load(label) for label in pairs.RATED}
    known = _known_scores(sets, rated_scores or {}, key)
    wanted = [label for label in sets if label not in known]
    frame = pairs.build(root, quick=quick, systems=systems, rated=wanted)
    progress(0, 0.0)
    scored = score(metric, frame, batched=batched, progress=progress)
    parts = frame["part"].to_numpy()
    known |= {label: scored.values[parts == label] for label in wanted if label in parts}
    settings = {"seed": seed, "quick": quick, "half": half, "resamples": RADPREF_RESAMPLES}
    not_tried = {"the models that the metric was published with": substitute} if substitute else {}
    content: dict[str, Any] = dict.fromkeys((*pairs.RATED, "systems"))
    for label, recording in sets.items():
        why = "its texts are in no data root"
        part = _on_people(recording, sign * known[label], name, key, settings) if label in known else why
        if isinstance(part, str):
            not_tried[f"agreement on {label}"] = part
        else:
            content[label] = part
    oriented = fill_failures(frame, sign * scored.values)
    if "systems" in parts:
        content["systems"] = measurements.on_systems(frame, oriented, sign=sign, seed=seed)
    elif systems:
        not_tried["committed outputs of real systems"] = "they are in no data root"
    failed = int((~np.isfinite(known["radpref"])).sum()) if "radpref" in known else 0
    about = {
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
        "edits": measurements.costs(frame, oriented, seed=seed),
        "behaviour": measurements.behaviour(frame, scored, value_range, sign=sign),
        "not_tried": not_tried,
        **provenance.environment(),
    }
    about["faults"] = _faults(about, failed)
    table = frame[["id", "part", "row", "kind"]].assign(score=scored.values)
    # Numbers as JSON has them: what is not finite is null.
    as_json = json.dumps(about, default=lambda number: number.item())
    return Card(json.loads(as_json, parse_constant=lambda _: None), table, scored.message)


def _known_scores(
    sets: Mapping[str, stored.Recording], given: Mapping[str, FloatArray], key: str
) -> dict[str, FloatArray]:
    """Return the scores of rated sets that need no scoring, by set: those given, and the stored scores of a
    metric of this library, which has no other scores of these sets."""
    known = {label: np.asarray(values, dtype=np.float64) for label, values in given.items()}
    for label, values in known.items():
        if label not in sets or values.shape != (len(sets[label].table),):
            problem = f"{label!r} is no rated set, or has other rows"
            raise MetricError(problem, "rated_scores", f"Give a score for each row of {listed(sets)}.")
    for label, recording in sets.items():
        if key in recording.about["columns"]:
            known[label] = recording.table[key].to_numpy(np.float64)
    return known


def _on_people(
    recording: stored.Recording, oriented: FloatArray, name: str, key: str, settings: Mapping[str, Any]
) -> dict[str, Any] | list[dict[str, Any]] | str:
    """Return a metric's agreement with people's ratings of a set, or the reason why there is none."""
    finite, cases = np.isfinite(oriented), recording.table["case"].to_numpy()
    if not finite.any():
        return "none of its pairs got a score"
    every = {name: np.where(finite, oriented, oriented[finite].min()), **measurements.rivals(recording, key)}
    keep = measurements.in_half(cases, settings["half"] if recording.name == "radpref" else "all")
    scores, seed = {title: values[keep] for title, values in every.items()}, settings["seed"]
    if not varies(scores[name], cases[keep]):
        return "nearly all pairs have the same score"
    if recording.name != "radpref":
        return measurements.on_facts(recording.table, scores, seed=seed)
    return measurements.on_radpref(
        recording.table[keep],
        scores,
        name,
        resamples=settings["resamples"],
        seed=seed,
        tests=settings["half"] == "all",
    )


def _faults(about: Mapping[str, Any], failed_on_radpref: int) -> list[str]:
    """Return a sentence for each fault that a card's content shows."""
    behaves, metric = about["behaviour"], about["metric"]
    faults = list[str]()
    for repeated, fault, when in (
        (behaves["again"], "Not repeatable", "the second time"),
        (behaves["alone"], "Dependent on the batch", "alone than among others"),
    ):
        if repeated and repeated["differ"]:
            problem = f"{repeated['differ']} of {repeated['pairs']} pairs score otherwise {when}"
            faults.append(f"{fault}: {problem}, by up to {repeated['most']:.2g}.")
    if behaves["commonest_share"] >= _CONSTANT:
        faults.append(f"Nearly constant: {behaves['commonest_share']:.0%} of pairs have one score.")
    elif behaves["identical_below_unrelated"] > 0.5:
        flag = "give --lower-is-better" if metric["higher_is_better"] else "leave out --lower-is-better"
        share = f"{behaves['identical_below_unrelated']:.0%}"
        problem = f"in {share} of reports an equal text scores worse than an unrelated one"
        faults.append(f"The direction looks wrong: {problem}; to turn it, {flag}.")
    if behaves["outside_range"]:
        low, high = metric["range"]
        seen = "{:.4g} to {:.4g} are seen".format(*behaves["range_seen"])
        count = f"{behaves['outside_range']:,} scores"
        faults.append(f"Outside its range: {count}; {low:g} to {high:g} is declared, {seen}.")
    total = sum(behaves["failures"].values())
    if total or failed_on_radpref:
        without = f"{failed_on_radpref} pairs of RadPref and {total:,} of all {behaves['pairs']:,} scored"
        faults.append(f"No score for {without}; they count as the worst.")
    if about["settings"]["quick"]:
        faults.append("Made with --quick: fewer reports were edited.")
    return faults


def root_of(given: str | Path | None) -> Path | None:
    """Return the data root; None if none is wanted or there can be none. A missing folder is an error."""
    if given is None or not (str(given) or os.environ.get("RADEVAL_DATA_ROOT") or DATA.is_dir()):
        return None
    return data.data_root(str(given) or None)
