"""Record the rewards of the package radgraph by both of its rules, which have one version; see README.md.

    python tests/reference/record_radgraph_rewards.py REWARDS_OF_0.1.18 REWARDS_OF_87F11A1

Both arguments are files ``radgraph/rewards.py``, which import nothing: of the release 0.1.18 on the Python
Package Index, and of the repository at commit 87f11a1.
"""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent / "radgraph"
LEVELS = ("simple", "partial", "complete")


def main(released: str, repository: str) -> None:
    pairs = json.loads((HERE / "pairs.json").read_text(encoding="utf-8"))
    recorded = {}
    for rule, path in (("relations", released), ("fold", repository)):
        reward = runpy.run_path(path)["compute_reward"]
        recorded[rule] = {
            pair["name"]: [reward(pair["candidate"], pair["reference"], level) for level in LEVELS]
            for pair in pairs
        }
    text = json.dumps({"levels": LEVELS, **recorded}, indent=0, ensure_ascii=False) + "\n"
    (HERE / "package.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
