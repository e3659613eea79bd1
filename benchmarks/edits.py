"""What edits cost: the steps of a whole build that each makes stale, and the time that these took last.

    python -m benchmarks.edits [DATA_ROOT]

Prints a Markdown table; without a data root for the profile `embedded`, with one for `open`.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from radeval_lib.pipeline import durations, steps
from tests.pipeline.edits import Copy

EDITS = {
    "a comment in `data/radpref.py`": ("radeval_lib/data/radpref.py", "", "# A comment.\n"),
    "code in `data/radpref.py`": ("radeval_lib/data/radpref.py", "", "EDITED = True\n"),
    "a comment in `rules/generator/clauses.py`": (
        "radeval_lib/rules/generator/clauses.py",
        "",
        "# A comment.\n",
    ),
    "code in `rules/generator/clauses.py`": ("radeval_lib/rules/generator/clauses.py", "", "EDITED = True\n"),
    "code in `tables.py`": ("radeval_lib/tables.py", "", "EDITED = True\n"),
    "code in `models/graph/model.py`": ("radeval_lib/models/graph/model.py", "", "EDITED = True\n"),
    "code in `metrics/bleu.py`": ("radeval_lib/metrics/bleu.py", "", "EDITED = True\n"),
    "code in `data/construction/procedure.py`": (
        "radeval_lib/data/construction/procedure.py",
        "",
        "EDITED = True\n",
    ),
    "a value in `rules/lexicon/regions/teeth.yml`": (
        "radeval_lib/rules/lexicon/regions/teeth.yml",
        "common: 0.8",
        "common: 0.7",
    ),
    "a size of one role (`text_pairs`)": (
        "data_manifests/profiles/embedded.yml",
        "text_pairs: 200",
        "text_pairs: 201",
    ),
    "resamples": ("data_manifests/profiles/embedded.yml", "resamples: 2000", "resamples: 1999"),
    "one printed number of RaLEs": ("data_manifests/papers/rales/table3.csv", "", "\n"),
    "a word of prose": ("notebooks/rales/nlu_scores.md", "", "\nOne more word.\n"),
}


def main() -> None:
    root = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
    profile = "open" if root else "embedded"
    graph = steps.graph(profile, data_root=root)
    seconds = {name: durations.expected(graph, name) or 0.0 for name in graph.names}
    print(f"| edit (profile `{profile}`, {len(seconds)} steps) | stale | with what reads them | seconds |")
    print("| --- | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy.into(Path(folder) / "copy", profile, root)
        for what, edit in EDITS.items():
            _row(copy, what, copy.stale(*edit), seconds)
        shutil.move(copy.path, Path(folder) / "moved")
        moved, before = Copy(Path(folder) / "moved", profile, root).graph()["keys"], copy.untouched["keys"]
        _row(copy, "the project moved", {name for name in before if before[name] != moved[name]}, seconds)


def _row(copy: Copy, what: str, stale: set[str], seconds: dict[str, float]) -> None:
    redone = copy.redone(stale)
    cost = sum(seconds.get(name, 0.0) for name in redone)
    print(f"| {what} | {len(stale)} | {len(redone - {'the book'})} | {cost:.0f} |", flush=True)


if __name__ == "__main__":
    main()
