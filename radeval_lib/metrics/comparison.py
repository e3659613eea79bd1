"""How systems compare: the result of ``radeval_lib.compare``, and its texts."""

from __future__ import annotations

import math
import platform
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from radeval_lib import provenance
from radeval_lib.metrics.error_profile import as_text, records
from radeval_lib.metrics.verdicts import NOT_RANKED
from radeval_lib.paths import REFERENCES

if TYPE_CHECKING:
    import pandas as pd

_NUMERIC = ("value", "difference", "low", "high", "p", "p_holm", "standardised")


@dataclass(frozen=True)
class Comparison:
    """How systems compare; as a text, all that it reports.

    Attributes
    ----------
    systems, pairs : as :func:`radeval_lib.stats.system_comparison.compare_systems` returns them.
    metrics : by name: ``value`` (``mean``, or ``corpus`` where the value of the corpus is not a mean) and,
        unless scores were given, ``signature``, ``source`` (BibTeX key), ``better`` (``higher`` or
        ``lower``), ``models``, and ``note``, what stands in for a published model.
    left_out : of metrics that could not score, why.
    cautions : what a reader should know of texts and intervals, with rows.
    verdicts : for each metric, the differences that matter in a sentence each. A system with cautions on more
        than one in twenty of its pairs is called better only together with these; one most of whose
        candidates say nothing that can be judged is not ranked.
    profile : where the judge by rules scores, errors by kind and urgent findings found, as
        :func:`radeval_lib.metrics.error_profile.profile` returns them; else empty.
    diversity : of texts, for the references and each system: how many differ (``texts``), and how many sets
        of findings they state (``finding_sets``), by the observations of the chest; else empty.
    rows : references; ``systems`` has the number of cases, which are fewer where several rows are of one.
    resamples, seed : of the intervals and tests.
    """

    systems: pd.DataFrame
    pairs: pd.DataFrame
    metrics: dict[str, dict[str, Any]]
    left_out: dict[str, str]
    cautions: list[str]
    verdicts: list[str]
    profile: pd.DataFrame
    diversity: pd.DataFrame
    rows: int
    resamples: int
    seed: int

    def __str__(self) -> str:
        return self.text()

    def text(self, *, every: bool = False) -> str:
        """All that it says: clusters and the differences that matter, or with ``every`` all pairs of systems
        too."""
        notes = [f"Warning: {name}: {one['note']}." for name, one in self.metrics.items() if one.get("note")]
        notes += [f"Caution: {caution}." for caution in self.cautions]
        notes += [f"Left out: {name}: {why}" for name, why in self.left_out.items()]
        tables = [self.clusters(), "\n".join(self.verdicts), *([self.tables()] if every else [])]
        if len(self.profile):
            what = "Errors per 100 pairs and share of urgent findings found, by the judge by rules:"
            tables.append(f"{what}\n{as_text(self.profile).to_string()}")
        if len(self.diversity):
            what = f"Different texts and sets of findings for {self.rows:,} references:"
            tables.append(f"{what}\n{self.diversity.to_string(index=False)}")
        return "\n\n".join([*tables, "\n".join(notes), self.methods(), self.references()])

    def clusters(self) -> str:
        """The systems by metric, the best first, with their clusters, for a terminal."""
        table = self.systems.assign(metric_order=self.systems["metric"].map(list(self.metrics).index))
        sign = [-1 if self.metrics[one].get("better") == "lower" else 1 for one in table["metric"]]
        table = table.assign(best=table["value"] * sign).sort_values(
            ["metric_order", "best"], ascending=[True, False], kind="stable"
        )
        table = self._shown(table.drop(columns=["metric_order", "best"]))
        table["cluster"] = table["cluster"].astype(object).where(table["cluster"].notna(), "–")
        order = ["metric", "cluster", "system", "value", "95 % interval", "cases"]
        return str(table[order].to_string(index=False))

    def _shown(self, frame: pd.DataFrame) -> pd.DataFrame:
        """A table with its numbers as texts."""
        frame = frame.assign(metric=frame["metric"].map(self._label))
        for name in frame.columns.intersection(_NUMERIC):
            frame[name] = frame[name].map(lambda value: "–" if math.isnan(value) else f"{value:.4g}")
        frame["95 % interval"] = frame.pop("low") + " to " + frame.pop("high")
        return frame

    def tables(self) -> str:
        """Every pair of systems, for a terminal."""
        import pandas as pd

        pairs = self._shown(self.pairs.copy())
        more = pairs.pop("more_cases")
        pairs["more cases for 80 % power"] = ["–" if pd.isna(one) else f"{one:,}" for one in more]
        pairs = pairs.rename(columns={"p_holm": "p (Holm)"})
        order = ["metric", "first", "second", "difference", "95 % interval", "p", "p (Holm)"]
        pairs = pairs[[*order, *pairs.columns.difference(order, sort=False)]]
        return str(pairs.to_string(index=False))

    def _label(self, name: str) -> str:
        """What a value is, which may be no mean, and whether it is good."""
        about = self.metrics[name]
        return f"{name} ({about['value']}{', lower is better' * (about.get('better') == 'lower')})"

    def methods(self) -> str:
        """A paragraph for the methods section of a paper; sources as ``[@key]``, see :meth:`references`."""
        from radeval_lib.stats.p_values import is_enumerated

        names, cases = list(dict.fromkeys(self.systems["system"])), int(self.systems["cases"].iloc[0])
        tests = (
            f"over all {2**cases:,} ways of exchanging their outputs (exact)"
            if is_enumerated(cases, self.resamples)
            else f"with {self.resamples:,} random exchanges of their outputs, p = (b + 1)/(n + 1)"
        )
        count, level = len(self.pairs), "0.05"
        if count > 1:
            tests += (
                f" [@riezler2005pitfalls]; p values were corrected over all {count} comparisons [@holm1979]"
            )
            level += f"/{count}"
        else:
            tests += " [@riezler2005pitfalls]"
        pseudo = any(one["value"] == "corpus" for one in self.metrics.values())
        pseudo_values = " (of jackknife pseudo-values where the value of the corpus is not a mean)" * pseudo
        of_cases = f" of {cases:,} cases, whose rows were kept together" if cases < self.rows else ""
        doubtful = "".join(f" {one}" for one in self.verdicts if NOT_RANKED in one)
        packages = provenance.package_versions()
        software = [f"{name} {packages[name]}" for name in self._packages() if name in packages]
        return (
            f"{len(names)} systems ({', '.join(names)}) were scored on the same {self.rows:,} references"
            f"{of_cases}: "
            f"{'; '.join(map(self._measured, self.metrics))}. "
            f"Values have 95 % percentile bootstrap intervals over cases ({self.resamples:,} resamples, seed "
            f"{self.seed}), widened for small samples [@hesterberg2015bootstrap]. "
            f"Pairs of systems were compared by two-sided paired randomization {tests}. "
            "Standardised differences are the mean of the paired differences over their standard deviation"
            f"{pseudo_values}. "
            "The number of further cases for 80 % power is that of a two-sided paired t test at the level "
            f"{level}, if the true difference is the one observed. "
            f"Cases were taken as independent; systems' training seeds were not varied.{doubtful} "
            f"Software: Python {platform.python_version()}, {', '.join(software)}."
        )

    def _measured(self, name: str) -> str:
        about = self.metrics[name]
        details = [f"signature `{about['signature']}`" if "signature" in about else "scores as given"]
        details += ["lower is better"] if about.get("better") == "lower" else []
        details += ["value of the corpus from summed counts"] if about["value"] == "corpus" else []
        details += [about["note"]] if about.get("note") else []
        source = f" [@{about['source']}]" if about.get("source") else ""
        return f"{name}{source} ({'; '.join(details)})"

    def _packages(self) -> list[str]:
        """The packages that the numbers depend on, if they are installed."""
        models = any(set(one.get("models", {})) - {"rules"} for one in self.metrics.values())
        rouge = any(name.startswith("rouge") for name in self.metrics)
        more = ["rouge-score"] * rouge + ["torch", "transformers"] * models
        return ["radeval-lib", "numpy", "scipy", *more]

    def references(self) -> str:
        """The BibTeX entries that :meth:`methods` cites."""
        cited = re.findall(r"\[@(\w+)\]", self.methods())
        entries = re.split(r"\n(?=@)", REFERENCES.read_text(encoding="utf-8"))
        return "\n\n".join(one.strip() for one in entries if re.split(r"[{,]", one, maxsplit=2)[1] in cited)

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON has it; what has no number is null."""
        return {
            "systems": records(self.systems),
            "pairs": records(self.pairs),
            "metrics": self.metrics,
            "left out": self.left_out,
            "cautions": self.cautions,
            "verdicts": self.verdicts,
            "profile": records(self.profile),
            "diversity": records(self.diversity),
            "rows": self.rows,
            "resamples": self.resamples,
            "seed": self.seed,
            "methods": self.methods(),
            "references": self.references(),
            **provenance.environment(),
        }
