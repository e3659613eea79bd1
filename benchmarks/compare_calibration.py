"""How `radbook compare` is calibrated: p values under the null, and coverage of its intervals.

    python benchmarks/compare_calibration.py --samples 2000

The population is 4,000 generated reports, each with a candidate that has up to six errors of any kind and one
that has up to three missing or false findings. All are scored once; samples of cases are drawn from them with
replacement. Under the null, a coin decides for each case which candidate is which system's. Of p values it
tells the share at most 0.05 and the Kolmogorov-Smirnov test that they are uniform (each p less a random share
of its step, so that it has no steps); of the 95 % intervals how many hold the population's own value, or
difference. The exit status is 1 where, with 30 or more cases, uniformity is refuted at 0.001 or coverage is
outside 93 to 97 %. With 10, a sum of errors has so many ties that p is conservative.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from scipy import stats

from radeval_lib import metrics
from radeval_lib.rules.generator import SyntheticError, error_pairs, inject
from radeval_lib.stats.inference import is_enumerated
from radeval_lib.stats.system_comparison import compare_systems

RESAMPLES = 999
METRICS = ("rouge_l", "bleu", "green_rules_errors")
SIZES = (10, 30, 100, 300)


def texts(size: int) -> tuple[list[str], list[str], list[str]]:
    """Return references, and the candidates of two systems."""
    made, rng = [], np.random.default_rng(2)
    for pair in error_pairs(2 * size, seed=1, modality_anatomy=("X-Ray", "CHEST")):
        try:
            kinds = [(str(kind), True) for kind in rng.choice(["a", "b"], size=rng.integers(4))]
            second = inject(pair.reference, kinds, seed=2).candidate
        except SyntheticError:
            continue
        made.append([report.findings.text for report in (pair.reference, pair.candidate, second)])
        if len(made) == size:
            break
    references, first, others = map(list, zip(*made, strict=True))
    return references, first, others


def main() -> None:
    """Print a line for each metric and number of cases."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--samples", type=int, default=2000, help="of each size")
    samples = parser.parse_args().samples
    references, *systems = texts(4000)
    whole, values = {}, {}
    for name in METRICS:
        metric = metrics.create(name)
        tables = []
        for candidates in systems:
            table, values[name] = metric.corpus(metric.score(references, candidates))
            tables.append(table)
        whole[name] = np.stack(tables)  # systems, cases, statistics
    truth = {name: values[name](whole[name].sum(axis=1))[:, 0] for name in METRICS}
    failed = False
    print("metric, cases: p <= 0.05, KS p; covered: first, second, difference, difference under the null")
    for cases in SIZES:
        rng = np.random.default_rng(cases)
        p = {name: np.empty(samples) for name in METRICS}
        covered = {name: np.zeros(4) for name in METRICS}
        for at in range(samples):
            rows = rng.integers(len(references), size=cases)
            coins = rng.integers(2, size=cases)
            drawn = {name: whole[name][:, rows] for name in METRICS}
            null = {
                name: np.take_along_axis(scores, np.stack([coins, 1 - coins])[..., None], axis=0)
                for name, scores in drawn.items()
            }
            for is_null, tables in ((False, drawn), (True, null)):
                of_systems, of_pairs = compare_systems(
                    {name: dict(zip("ab", both, strict=True)) for name, both in tables.items()},
                    values,
                    resamples=RESAMPLES,
                    seed=at,
                )
                for name, pair in of_pairs.set_index("metric").iterrows():
                    if is_null:
                        p[name][at] = pair.p
                        covered[name][3] += pair.low <= 0 <= pair.high
                        continue
                    ends = of_systems[of_systems["metric"] == name][["low", "high"]].to_numpy()
                    covered[name][:2] += (ends[:, 0] <= truth[name]) & (truth[name] <= ends[:, 1])
                    covered[name][2] += pair.low <= truth[name][0] - truth[name][1] <= pair.high
        for name in METRICS:
            steps = 2**cases if is_enumerated(cases, RESAMPLES) else RESAMPLES + 1
            uniform = stats.kstest(p[name] - rng.random(samples) / steps, "uniform").pvalue
            shares = covered[name] / samples
            failed |= uniform < 0.001 or (cases >= 30 and not ((shares >= 0.93) & (shares <= 0.97)).all())
            coverage = ", ".join(f"{share:.1%}" for share in shares)
            print(f"{name}, {cases}: {(p[name] <= 0.05).mean():.1%}, {uniform:.3f}; {coverage}", flush=True)
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
