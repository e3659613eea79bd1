"""What a book takes, by part: the trainings of each notebook of cells, and the pages of each folder.

    make book && python benchmarks/book_cost.py [--profile embedded]

A build notes the seconds of every step, from start to end. Two steps run at once on two cores, so the sum is
about twice what one waits; rendering is what the build's own total has beyond that.
"""

from __future__ import annotations

import argparse

import pandas as pd

from radeval_lib.paths import BUILD


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--profile", default="embedded")
    folder = BUILD / parser.parse_args().profile / "seconds"
    rows = []
    for path in sorted(folder.rglob("*.txt")):
        name = path.relative_to(folder).with_suffix("").parts
        kind, part = ("training", "/".join(name[:2])) if len(name) > 2 else ("pages", name[0])
        rows.append((kind, part, float(path.read_text(encoding="utf-8"))))
    frame = pd.DataFrame(rows, columns=["kind", "part", "seconds"])
    if frame.empty:
        parser.exit(2, f"no book of the profile {folder.parent.name} was built\n")
    found = frame.groupby(["kind", "part"])["seconds"].agg(steps="size", total="sum", longest="max")
    print(found.round(1).to_string())
    print(frame.groupby("kind")["seconds"].sum().round(1).to_string())


if __name__ == "__main__":
    main()
