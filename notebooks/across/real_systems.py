"""What the page on real systems says of committed outputs, and what that rests on: stored scores alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from notebooks.across.system_scores import SHUFFLES, difference, findings, first, means, titles
from radeval_lib.data import recorded
from radeval_lib.data.iu_systems import LAST_IMAGE, REFERENCES
from radeval_lib.data.recorded import Recording
from radeval_lib.jobs.storing.system_sets import CONSTANT, METRICS, SAME, outputs
from radeval_lib.metrics.by_name import create, get
from radeval_lib.papers.printed_numbers import wide
from radeval_lib.provenance import RECORDED_SCORES
from radeval_lib.study.checks import above, under_every
from radeval_lib.study.display import phrase
from radeval_lib.study.runs import Run
from radeval_lib.text_format import in_words, joined, long_date, percent, with_interval

NAME = "iu_systems"
_ROUNDING = 2e-5  # of stored scores


def open_recording(run: Run) -> Recording:
    """What is recorded of the files, noted as read."""
    recording = recorded.load(NAME)
    for path in recorded.files(NAME):
        run.reading.note_file(RECORDED_SCORES, path)
    return recording


def scored_again(run: Run, recording: Recording) -> str:
    """A sentence on what the numbers rest on: what is recorded, and where the data root holds the texts, how
    far these, scored here by the metrics that need no model, are from it."""
    date = long_date(recording.scored_on)
    texts = outputs(run.data_root) if run.data_root is not None else pd.DataFrame()
    if texts.empty:
        return rests_on(date)
    for dataset, file in (("iu_systems", REFERENCES), ("openi", ""), ("openi_labels", "")):
        run.find(dataset, file)
    same, other = [], []
    for metric in METRICS:
        if get(metric).needs:
            continue
        values = create(metric).values(texts["reference"].tolist(), texts["candidate"].tolist())
        apart = float(np.abs(values - recording.table[metric].to_numpy()).max())
        title = titles([metric])[metric]
        if apart < _ROUNDING:
            same.append(title)
        else:
            other.append(f"{title} (up to {apart:.2g})")
    return rests_on(date, same, other)


def rests_on(date: str, same: Sequence[str] | None = None, other: Sequence[str] = ()) -> str:
    """What the numbers rest on, with the metrics that gave the ``same`` scores of the texts again and those
    that gave ``other`` ones; None where the texts were not scored again."""
    start = f"All numbers follow from scores that were stored on {date}"
    if same is None:
        return f"{start}; the texts are not part of this edition."
    again = f"{start}. Scored again for this edition, the texts get the same scores by "
    again += joined(list(same)) or "no metric"
    return f"{again}, and other scores by {joined(list(other))}." if other else f"{again}."


def beside_each_other(gained: pd.DataFrame) -> pd.DataFrame:
    """The gains (:func:`system_scores.gains`) in words: one row per metric and group of studies, one column
    per system."""
    cells = [with_interval(row.gain, row.low, row.high) for row in gained.itertuples()]
    named = gained.assign(metric=gained["metric"].map(titles(METRICS)), studies=gained["stratum"], cell=cells)
    return wide(named, ["metric", "studies"], "system", "cell")


def leads(recording: Recording, named: pd.DataFrame, run: Run) -> pd.DataFrame:
    """By metric of :data:`METRICS`, whether the file that names most findings leads the best of the others
    (column ``leads``): False where it trails, None where the interval of the difference holds 0. The file
    with a text per image has to do so by the first image and by the last; ``rival`` and ``difference``, an
    Estimate over distinct references, are by the first.

    ``named``: by :func:`system_scores.findings`, of the files that are compared.
    """
    table, finder = recording.table, _finder(named)
    chosen = [finder, LAST_IMAGE] if LAST_IMAGE.startswith(finder) else [finder]
    by_metric = {}
    for metric in METRICS:
        rival = first(means(table, [metric])[metric].loc[named.index.drop(finder)], metric)
        apart, sides = [], []
        for system in chosen:
            rng = run.rng(f"lead by {metric}, {system}")
            apart.append(difference(table, metric, (system, rival), "all", run.profile.resamples, rng))
            sides.append(above(*sorted(get(metric).sign() * end for end in (apart[-1].low, apart[-1].high))))
        by_metric[metric] = {"rival": rival, "difference": apart[0], "leads": under_every(sides)}
    return pd.DataFrame.from_dict(by_metric, orient="index", dtype=object)


def _finder(named: pd.DataFrame) -> str:
    """The file that names most findings."""
    return str(named["named"].idxmax())


def lead_table(led: pd.DataFrame) -> pd.DataFrame:
    """What the page shows of :func:`leads`."""
    shown = led[["rival"]].assign(difference=led["difference"].map("{:.3f}".format))
    return shown.rename(index=titles(METRICS))


def bears_out(named: pd.DataFrame, leading: Mapping[str, bool | None]) -> bool:
    """Whether one file alone names findings, beyond chance, and trails by ROUGE-L and by more metrics than it
    leads by, as :func:`leads` has it."""
    finder, sides = _finder(named), list(leading.values())
    silent = int((named["named"] == 0).sum()) == len(named) - 1
    trails = leading["rouge_l"] is False and sides.count(False) > sides.count(True)
    return bool(silent and named.loc[finder, "p"] < 0.05 and trails)


HEADLINE = frozenset(
    {"named", "coded", "finder", "silent", "rivals", "rouge", "rival_rouge", "rouge_apart", "against"}
    | {"in_favour", "metrics_for", "metrics", "studies"}
)
"""What of :func:`answer` the front page repeats."""


def answer(
    recording: Recording,
    named: pd.DataFrame,
    gained: pd.DataFrame,
    led: pd.DataFrame,
    run: Run,
) -> dict[str, str]:
    """What the page says in its sentences, by name.

    ``named``, ``gained``: by :func:`system_scores.findings` and :func:`system_scores.gains`; ``led``: by
    :func:`leads`.
    """
    table = recording.table
    last = findings(table, [LAST_IMAGE], run.rng("last image"), shuffles=100).iloc[0]
    half = recording.parts["codes"].set_index(["half", "code"]).loc[("even", "all")]
    released = recording.parts["released"]["RadCliQ-v1"]
    return {
        "studies": f"{(table['system'] == SAME).sum()}",
        **_finder_in_words(table, named, led, run),
        **_studies_in_words(table),
        "last_named": f"{last['named']:.0f}",
        "last_rouge": f"{means(table, ['rouge_l']).loc[LAST_IMAGE, 'rouge_l']:.3f}",
        "even_f1": with_interval(half["f1"], half["low"], half["high"], ".2f"),
        "even_reports": f"{half['reports']:,.0f}",
        "even_texts": f"{half['texts']:,.0f}",
        "constant_reaches": joined(_reached_by_constant(table, list(named.index))) or "no metric",
        "turned": f"{1 / released.mean():.2f}",
        "turned_each": f"{(1 / released).mean():.2f}",
        **_gains_in_words(named, gained),
    }


def _finder_in_words(table: pd.DataFrame, named: pd.DataFrame, led: pd.DataFrame, run: Run) -> dict[str, str]:
    """What the file that names most findings names, and whether metrics prefer it; see :func:`answer`."""
    finder, name = _finder(named), titles(METRICS)
    finds = named.loc[finder]
    rouge = means(table, ["rouge_l"])["rouge_l"]
    rival, overall = led.loc["rouge_l", ["rival", "difference"]]

    def lead(metric: str) -> str:
        rng = run.rng(f"{metric} finding")
        return f"{difference(table, metric, (finder, rival), 'finding', run.profile.resamples, rng):.3f}"

    sides, leading = (False, True, None), led["leads"].to_dict()
    behind, ahead, undecided = (
        [title for metric, title in name.items() if leading[metric] is side] for side in sides
    )
    return {
        "finder": finder,
        "named": f"{finds['named']:.0f}",
        "coded": f"{finds['coded']:.0f}",
        "silent": in_words(int((named["named"] == 0).sum())),
        "metrics_against": joined(behind) or "no metric",
        "metrics_for": joined(ahead) or "none",
        "metrics_open": joined(undecided) or "none",
        "against": in_words(len(behind)),
        "in_favour": in_words(len(ahead)),
        "metrics": in_words(len(name)),
        "shuffled": f"{finds['shuffled']:.1f}",
        "most": f"{finds['most']:.0f}",
        "lookups": f"{SHUFFLES:,}",
        "rivals": rival,
        "rouge": f"{rouge[finder]:.3f}",
        "rival_rouge": f"{rouge[rival]:.3f}",
        "rouge_apart": f"{overall:.3f}",
        "over_all": phrase(overall, more="leads", less="trails", open="neither leads nor trails"),
        "finding_rouge": lead("rouge_l"),
        "finding_meteor": lead("meteor"),
    }


def _studies_in_words(table: pd.DataFrame) -> dict[str, str]:
    """How many studies are of which kind; see :func:`answer`."""
    studies = table[table["system"] == SAME]
    counts = studies["stratum"].value_counts()
    return {
        "masked": f"{int(studies['masked'].sum())}",
        "normal_share": percent(counts["normal"] / len(studies)),
        "normal_of_two": percent(counts["normal"] / (counts["normal"] + counts["finding"])),
        "with_finding": f"{counts['finding']}",
        "normal": f"{counts['normal']}",
        "uncoded": f"{counts['uncoded']}",
    }


def _reached_by_constant(table: pd.DataFrame, systems: Sequence[str]) -> list[str]:
    """The titles of the metrics by which the constant is as good as the best of the files, or better."""
    reached = []
    for metric, title in titles(METRICS).items():
        mean = means(table, [metric])[metric]
        best = mean[first(mean.loc[systems], metric)]
        if (mean[CONSTANT] - best) * get(metric).sign() >= 0:
            reached.append(title)
    return reached


def _gains_in_words(named: pd.DataFrame, gained: pd.DataFrame) -> dict[str, str]:
    """What outputs gain over shuffled ones by ROUGE-L: of the file that gains most, and of the one that names
    most findings; see :func:`answer`."""
    rouge = gained[gained["metric"] == "rouge_l"].set_index(["system", "stratum"])
    stylist, finder = str(rouge.xs("all", level="stratum")["gain"].idxmax()), _finder(named)

    def gain(system: str, stratum: str) -> str:
        row = rouge.loc[(system, stratum)]
        return with_interval(row["gain"], row["low"], row["high"], ".3f")

    return {
        "stylist": stylist,
        "stylist_gain": gain(stylist, "all"),
        "stylist_normal": gain(stylist, "normal"),
        "stylist_finding": gain(stylist, "finding"),
        "stylist_texts": in_words(int(named.loc[stylist, "texts"])),
        "finder_finding": gain(finder, "finding"),
        "finder_normal": gain(finder, "normal"),
    }
