"""What committed outputs of real systems say, and what metrics say of them: all from what is recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, PercentFormatter
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from radeval_lib import own_yaml, plots
from radeval_lib.data import recorded
from radeval_lib.data.iu_systems import LAST_IMAGE, REFERENCES
from radeval_lib.data.recorded import Recording
from radeval_lib.metrics.base import create, get
from radeval_lib.origin import RECORDED_SCORES
from radeval_lib.pages.across.system_sets import CONSTANT, METRICS, SAME, outputs, unmasked
from radeval_lib.papers.printed_numbers import wide
from radeval_lib.stats.estimates import Estimate
from radeval_lib.stats.proportions import wilson
from radeval_lib.stats.resampling import mean_of_sums, sum_estimates
from radeval_lib.study.checks import above, under_every
from radeval_lib.study.display import phrase
from radeval_lib.study.runs import Run
from radeval_lib.wording import in_words, joined, long_date, p_words, percent, with_interval

NAME = "iu_systems"
WORDS = ("bleu", "rouge_l", "meteor", "bertscore")
"""Metrics of words, or of words in context."""
_LOOKUPS = 20_000  # random permutations of outputs
_ROUNDING = 2e-5  # of recorded scores
_CLAIMS = Path(__file__).with_name("real_systems.yml")


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
    start = f"All numbers follow from scores that were recorded on {date}"
    if same is None:
        return f"{start}; the texts are not part of this edition."
    again = f"{start}. Scored again for this edition, the texts get the same scores by "
    again += joined(list(same)) or "no metric"
    return f"{again}, and other scores by {joined(list(other))}." if other else f"{again}."


def titles(metrics: Sequence[str]) -> dict[str, str]:
    """What tables call the metrics."""
    return {name: get(name).title or name for name in metrics}


def findings(
    table: pd.DataFrame, systems: Sequence[str], rng: np.random.Generator, lookups: int = _LOOKUPS
) -> pd.DataFrame:
    """Coded findings that each system names, beside those that it would name if its outputs were given to
    other studies: ``named`` of ``coded``, ``low`` and ``high`` (Wilson, of the share), ``shuffled`` (exact
    mean), ``most`` (of random permutations), ``p``; ``false``, normal studies with a finding of ``normal``;
    ``texts`` and ``sets``, distinct texts and distinct sets of the fourteen observations."""
    rows = {}
    for system in systems:
        studies = table[table["system"] == system].sort_values("study")
        gold, stated = unmasked(studies["gold"]), unmasked(studies["found"])
        common = gold.astype(np.int16) @ stated.T.astype(np.int16)
        places = np.arange(len(studies))
        drawn = np.array([common[places, rng.permutation(len(studies))].sum() for _ in range(lookups)])
        named, coded_ = int(np.diagonal(common).sum()), int(gold.sum())
        low, high = wilson(named, coded_)
        normal = studies[studies["stratum"] == "normal"]
        rows[system] = {
            "named": named,
            "coded": coded_,
            "low": low,
            "high": high,
            "shuffled": float(common.mean() * len(studies)),
            "most": int(drawn.max()),
            "p": (1 + int((drawn >= named).sum())) / (1 + lookups),
            "false": int((normal["found"] > 0).sum()),
            "normal": len(normal),
            "texts": studies["text"].nunique(),
            "sets": studies["stated"].nunique(),
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def stratum_of(table: pd.DataFrame, stratum: str) -> pd.DataFrame:
    """The rows of a stratum, or all."""
    return table if stratum == "all" else table[table["stratum"] == stratum]


def means(table: pd.DataFrame, metrics: Sequence[str], stratum: str = "all") -> pd.DataFrame:
    """Mean of each metric, a row per system."""
    return stratum_of(table, stratum).groupby("system", sort=False)[list(metrics)].mean()


def difference(
    table: pd.DataFrame,
    metric: str,
    pair: tuple[str, str],
    stratum: str,
    resamples: int,
    rng: np.random.Generator,
) -> Estimate:
    """Mean of the first system less that of the second on the same studies, by resampling of distinct
    references."""
    scores = stratum_of(table, stratum).pivot(index=["study", "case"], columns="system", values=metric)
    apart = (scores[pair[0]] - scores[pair[1]]).dropna()
    sums = apart.groupby("case").agg(["sum", "count"]).to_numpy(np.float64)
    (estimate,) = sum_estimates(sums, mean_of_sums, resamples=resamples, rng=rng)
    return estimate


def first(values: pd.Series[float], metric: str) -> str:
    """The system that a metric puts first."""
    return str((values * get(metric).sign()).idxmax())


def curve(
    table: pd.DataFrame, metric: str, pair: tuple[str, str], shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The lead of the first system of a pair, in the metric's good direction, if a set had other shares of
    normal studies among normal studies and those with a coded finding."""
    ends = [means(table, [metric], stratum)[metric] for stratum in ("normal", "finding")]
    normal, finding = ((values[pair[0]] - values[pair[1]]) * get(metric).sign() for values in ends)
    return np.asarray(shares * normal + (1 - shares) * finding)


def gains(recording: Recording, resamples: int, rng: np.random.Generator) -> pd.DataFrame:
    """What each metric loses when a system's outputs are given to other studies: ``system``, ``metric``,
    ``stratum``, ``gain`` in the good direction with ``low`` and ``high`` (studies drawn with replacement),
    ``sd`` and ``p`` of the permutation."""
    table, expected = recording.table, recording.parts["expected"]
    shuffles = recording.parts["shuffles"]
    rows = {}
    for (system, stratum), of_metrics in shuffles.groupby(["system", "stratum"], sort=False):
        studies = table[table["system"] == system].set_index("study")
        among = "all" if stratum == "all" else "within"
        level = expected[expected["system"] == system].set_index("study")
        chosen = stratum_of(studies, stratum).index
        apart = [
            get(metric).sign() * (studies.loc[chosen, metric] - level.loc[chosen, f"{metric}_{among}"])
            for metric in of_metrics["metric"]
        ]
        of_studies = np.column_stack([*apart, np.ones(len(chosen))]).astype(np.float64)
        estimates = sum_estimates(of_studies, mean_of_sums, resamples=resamples, rng=rng)
        for shuffle, gain in zip(of_metrics.itertuples(), estimates, strict=True):
            given = (system, shuffle.metric, stratum, gain.value, gain.low, gain.high)
            rows[shuffle.Index] = (*given, shuffle.sd, shuffle.p)
    columns = ["system", "metric", "stratum", "gain", "low", "high", "sd", "p"]
    return pd.DataFrame([rows[place] for place in shuffles.index], columns=columns)


def beside_each_other(gained: pd.DataFrame) -> pd.DataFrame:
    """The rows of :func:`gains` in words: one row per metric and group of studies, one column per system."""
    cells = [with_interval(row.gain, row.low, row.high) for row in gained.itertuples()]
    named = gained.assign(metric=gained["metric"].map(titles(METRICS)), studies=gained["stratum"], cell=cells)
    return wide(named, ["metric", "studies"], "system", "cell")


def beside_released(
    recording: Recording, ours: str, theirs: str, system: str = "MoERad"
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Our scores of a system's outputs and those that its repository commits, each of shape (studies,)."""
    studies = _with_released(recording, system)
    return studies[ours].to_numpy(), studies[_released(studies, theirs)].to_numpy()


def _with_released(recording: Recording, system: str) -> pd.DataFrame:
    studies = recording.table[recording.table["system"] == system]
    return studies.merge(recording.parts["released"], on="study", suffixes=("", "_released"))


def _released(studies: pd.DataFrame, name: str) -> str:
    """The column of a released score, which has a suffix where ours bears the same name."""
    return f"{name}_released" if f"{name}_released" in studies else name


def against_released(recording: Recording, pairs: Mapping[str, str], system: str = "MoERad") -> pd.DataFrame:
    """Kendall's τ_b of our scores (keys) with those that a repository commits (values), over all studies and
    within strata: ``ours``, ``released``, ``stratum``, ``tau``, ``n``."""
    studies = _with_released(recording, system)
    rows = []
    for ours, theirs in pairs.items():
        for stratum in ("all", "normal", "finding", "other"):
            part = stratum_of(studies, stratum)
            tau = float(scipy_stats.kendalltau(part[ours], part[_released(studies, theirs)]).statistic)
            rows.append((ours, theirs, stratum, tau, len(part)))
    return pd.DataFrame(rows, columns=["ours", "released", "stratum", "tau", "n"])


@lru_cache(maxsize=1)
def claims() -> dict[str, dict[str, str]]:
    """The headline in parts, each with its test and what would refute it, as they were fixed."""
    return own_yaml.read(_CLAIMS)


def tested(
    recording: Recording,
    systems: Sequence[str],
    metrics: Sequence[str],
    resamples: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """What comes of each of :func:`claims` on a set: beside its test and what refutes it, ``holds``, and
    ``found`` in words."""
    table = recording.table
    named = findings(table, systems, rng)
    best = str((named["named"] - named["shuffled"]).idxmax())
    winners = {metric: first(means(table, [metric]).loc[list(systems), metric], metric) for metric in metrics}
    words = [metric for metric in WORDS if metric in metrics]
    others = [metric for metric in words if winners[metric] != best]
    silent = [metric for metric in others if named.loc[winners[metric], "p"] >= 0.05]
    rivals = {metric: winners[metric] for metric in others}
    turned = [
        metric
        for metric, rival in rivals.items()
        if difference(table, metric, (best, rival), "finding", resamples, rng).value * get(metric).sign() > 0
    ]
    ahead = {
        metric: difference(table, metric, (winners[metric], CONSTANT), "all", resamples, rng)
        for metric in words
        if CONSTANT in set(table["system"])
    }
    reached = [metric for metric, lead in ahead.items() if lead.low * get(metric).sign() <= 0]
    name = titles(metrics)
    outcomes: dict[str, tuple[bool, str]] = {
        "beyond_chance": (
            bool(named.loc[best, "p"] < 0.05),
            f"{best}: {named.loc[best, 'named']:.0f} of {named.loc[best, 'coded']:.0f}, "
            f"{p_words(named.loc[best, 'p'])}",
        ),
        "words": (
            len(silent) > len(words) / 2,
            f"{len(silent)} of {len(words)}: {', '.join(name[one] for one in silent) or 'none'}",
        ),
        "constant": (bool(reached), ", ".join(name[one] for one in reached) or "none"),
        "turns": (bool(others) and len(turned) == len(others), f"{len(turned)} of {len(others)}"),
    }
    rows = [
        (one["claim"], one["test"], one["refuted_by"], "yes" if outcomes[key][0] else "no", outcomes[key][1])
        for key, one in claims().items()
        if key in outcomes
    ]
    return pd.DataFrame(rows, columns=["claim", "test", "refuted by", "holds", "found"])


def draw(
    axes: Sequence[Axes], named: pd.DataFrame, table: pd.DataFrame, gained: pd.DataFrame, metric: str
) -> None:
    """Coded findings beyond shuffled against the mean of a metric, with the constant as a line; beside it the
    gain of each file over shuffled outputs among normal studies and those with a finding."""
    left, right = axes
    value = means(table, [metric])[metric]
    for place, system in enumerate(named.index):
        beyond = named.loc[system, "named"] - named.loc[system, "shuffled"]
        colour, marker = plots.PALETTE[place], plots.MARKERS[place]
        left.scatter(value[system], beyond, s=60, color=colour, marker=marker, label=system)
    left.axvline(value[CONSTANT], color="0.4", linestyle="--", label=CONSTANT, zorder=3)
    left.set(xlabel=titles([metric])[metric], ylabel="findings beyond shuffled")
    left.xaxis.set_major_locator(MaxNLocator(4))
    left.yaxis.set_major_locator(MaxNLocator(integer=True))
    left.margins(x=0.15, y=0.08)
    left.figure.legend(loc="outside upper left", ncols=3, fontsize=9)
    part = gained[(gained["metric"] == metric) & gained["stratum"].isin(["normal", "finding"])]
    for place, system in enumerate(part["system"].unique()):
        rows = part[part["system"] == system].set_index("stratum").loc[["normal", "finding"]]
        positions = np.arange(2) + (place - 1) * 0.15
        number = list(named.index).index(system)
        plots.series(right, rows.rename(columns={"gain": "value"}), positions, number, system, upright=True)
    right.axhline(0, color="0.4", linewidth=0.8)
    right.set_xticks([0, 1], ["normal", "coded\nfinding"])
    right.margins(y=0.08)
    right.set(ylabel=f"gain in {titles([metric])[metric]}", xlim=(-0.5, 1.5))


def leads(recording: Recording, named: pd.DataFrame, run: Run) -> pd.DataFrame:
    """By metric, whether the file that names most findings leads the best of the others (column ``leads``):
    False where it trails, None where the interval of the difference holds 0. The file with a text per image
    has to do so by the first image and by the last; ``rival`` and ``difference``, an Estimate over distinct
    references, are by the first."""
    table, finder = recording.table, str(named["named"].idxmax())
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


def lead_table(led: pd.DataFrame) -> pd.DataFrame:
    """What the page shows of :func:`leads`."""
    shown = led[["rival"]].assign(difference=led["difference"].map("{:.3f}".format))
    return shown.rename(index=titles(METRICS))


def bears_out(named: pd.DataFrame, leading: Mapping[str, bool | None]) -> bool:
    """Whether one file alone names findings, beyond chance, and trails by ROUGE-L and by more metrics than it
    leads by, as :func:`leads` has it."""
    finder, sides = str(named["named"].idxmax()), list(leading.values())
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
    """What the page says in its sentences, by name; ``led`` is from :func:`leads`."""
    table = recording.table
    last = findings(table, [LAST_IMAGE], run.rng("last image"), lookups=100).iloc[0]
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
        "drawn": f"{recording.parts['shuffles']['lookups'].iloc[0]:,}",
        "turned": f"{1 / released.mean():.2f}",
        "turned_each": f"{(1 / released).mean():.2f}",
        **_gains_in_words(named, gained),
    }


def _finder_in_words(table: pd.DataFrame, named: pd.DataFrame, led: pd.DataFrame, run: Run) -> dict[str, str]:
    """What the file that names most findings names, and whether metrics prefer it; see :func:`answer`."""
    finder, name = str(named["named"].idxmax()), titles(METRICS)
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
        "lookups": f"{_LOOKUPS:,}",
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
    stylist, finder = str(rouge.xs("all", level="stratum")["gain"].idxmax()), str(named["named"].idxmax())

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


def draw_curve(axes: Axes, table: pd.DataFrame, pair: tuple[str, str], metrics: Sequence[str]) -> None:
    """The lead of the first of two systems by the share of normal studies, as a share of the larger mean."""
    shares, name = np.linspace(0, 1, 51), titles(metrics)
    for metric, marker in zip(metrics, plots.MARKERS, strict=False):
        largest = means(table, [metric]).loc[list(pair), metric].max()
        lead = curve(table, metric, pair, shares) / largest
        axes.plot(shares, lead, marker=marker, markevery=10, label=name[metric])
    counts = table[table["system"] == SAME]["stratum"].value_counts()
    axes.axvline(counts["normal"] / (counts["normal"] + counts["finding"]), color="0.4", linestyle=":")
    axes.axhline(0, color="0.4", linewidth=0.8)
    axes.set(xlabel="share of normal studies", ylabel=f"lead of {pair[0]} over {pair[1]}")
    axes.xaxis.set_major_formatter(PercentFormatter(1))
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.legend(fontsize=9)


def wins_in_words(wins: Mapping[str, int]) -> str:
    """How many variants put each file first, most first.

    >>> wins_in_words({"A": 5, "B": 0, "C": 9})
    'nine put C first and five A'
    """
    ahead = sorted(((count, name) for name, count in wins.items() if count), reverse=True)
    (most, best), *others = [(in_words(count), name) for count, name in ahead]
    verb = "put" if ahead[0][0] > 1 else "puts"
    return joined([f"{most} {verb} {best} first", *(f"{count} {name}" for count, name in others)])
