"""Record calibration errors and a temperature as netcal 1.4.0 gives them.

.venv/bin/pip freeze > known.txt && python -m venv netcal-env
netcal-env/bin/pip install -r known.txt netcal==1.4.0
netcal-env/bin/python -m tests.reference.record_netcal
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

from netcal.metrics import ECE, MCE
from netcal.scaling import TemperatureScaling

from radeval_lib.stats import temperature
from tests.stats.test_calibration import drawn, sure_in_turns

TARGET = Path(__file__).resolve().parent / "netcal" / "package.json"


def errors(classes: int) -> dict[str, object]:
    """Return ECE by number of bins and MCE, from confidence and correctness: given probabilities of shape
    (n, k), netcal counts as classes those that occur, and of two measures the second's probability."""
    p, labels = sure_in_turns(classes)
    sample = p.max(axis=1), (p.argmax(axis=1) == labels).astype(int)
    return {
        "ece": {bins: float(ECE(bins).measure(*sample)) for bins in (1, 5, 10, 15)},
        "mce": float(MCE(10).measure(*sample)),
    }


def main() -> None:
    logits, labels = drawn(2.0, samples=1500)
    scaling = TemperatureScaling()
    scaling.fit(temperature.scale(logits, 1.0), labels)
    record = {
        "version": version("netcal"),
        "errors": {classes: errors(classes) for classes in (2, 7, 46)},
        "temperature": 1 / float(scaling.temperature.item()),
    }
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
