"""Hostile names: whatever a user or a data set calls things, no command runs anything or writes elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

from click.testing import CliRunner

from radeval_lib.cli import main
from radeval_lib.paths import ROOT

LONGEST = 400  # a message names what it refuses, and what there is instead
CANARY = "pwned"
_TOUCH = f"touch {CANARY}"
NAMES = (
    f"$({_TOUCH})", f"`{_TOUCH}`", f"; {_TOUCH};", f"| {_TOUCH}", f"&& {_TOUCH}", f"|| {_TOUCH}",
    f"& {_TOUCH} &",
    f"'; {_TOUCH}; '", f'"; {_TOUCH}; "', f"\n{_TOUCH}\n", f"> {CANARY}", f">> {CANARY}", f"2> {CANARY}",
    f"$(({_TOUCH}))", f"${{IFS}}{_TOUCH}", f"a;{_TOUCH}", f"a\\;{_TOUCH}", f"a'b;{_TOUCH}", f'a"b;{_TOUCH}',
    f"{{{_TOUCH}}}", f"{{config[{_TOUCH}]}}", f"{{__import__('os').system('{_TOUCH}')}}",
    f"!!python/object/apply:os.system ['{_TOUCH}']", f"__import__('os').system('{_TOUCH}')",
    f"%({_TOUCH})s", f"%s{_TOUCH}", f"{{{{ {_TOUCH} }}}}", f"<script>{_TOUCH}</script>", f"--{_TOUCH}", "-rf",
    "--help-me", "..", "../..", "../profiles/smoke", "../../etc/passwd", "/etc/passwd", "~", "~root",
    "a/../../b", ".", "", " ", "\t", "a b", "*", "?", "[a-z]", "a\x1b[31mb", "‮gpj", "x" * 300, "\ud800",
    "é中🩻", "a:b", "a=b", "a,b", "#a", "a%20b", "CON", "a\\b", "~/.bashrc",
)  # fmt: skip


def _commands(name: str, folder: Path) -> Iterator[list[str]]:
    """Commands that a name goes into, in every place where one is taken."""
    pairs = folder / "pairs.csv"
    yield ["score", "--metric", name, "--input", str(pairs), "--output", str(folder / "out.csv")]
    bleu = ["score", "--metric", "bleu"]
    yield [*bleu, "--set", f"bleu.order={name}", "--input", str(pairs), "--output", "out.csv"]
    yield [*bleu, "--set", name, "--input", str(pairs), "--output", "out.csv"]
    yield [*bleu, "--input", f"{name}.csv", "--output", "out.csv"]
    yield [*bleu, "--input", str(pairs), "--output", f"{name}.csv"]
    encoder = ["score", "--metric", "bertscore", "--set", f"bertscore.encoder=./{name}"]
    yield [*encoder, "--input", str(pairs), "--output", "out.csv"]
    yield ["data", "status", name]
    yield ["data", "status", "--data-root", name]
    yield ["data", "add", "openi", name, "--data-root", str(folder / "root")]
    yield ["data", "fetch", name, "--data-root", str(folder / "root")]
    yield ["exhibits", "--profile", name]
    yield ["exhibits", name]
    yield ["build", "--profile", name]
    yield ["run", name]
    yield ["run", "facts/agreement", "-p", "profile", name]
    yield ["run", "facts/agreement", "-p", "seed", name]
    yield ["run", "facts/agreement", "-p", name, "1"]
    yield ["run", "facts/agreement", "-p", "output_dir", f"/{name}"]


def _fault(arguments: list[str], folder: Path) -> str:
    outside = {path.name for path in ROOT.iterdir()} | {"build"}
    done = CliRunner().invoke(main, arguments, env={"RADEVAL_DATA_ROOT": ""})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        return f"traceback: {done.exception!r:.200}"
    last = done.stderr.strip().splitlines()[-1:] if done.exit_code else []
    if any(len(line) > LONGEST or not line.isprintable() for line in last):
        return f"message: {last!r:.200}"
    if found := [place for place in (folder, ROOT, Path.cwd()) if (place / CANARY).exists()]:
        return f"ran the command, in {found[0].name}"
    if {path.name for path in ROOT.iterdir()} - outside:
        return "wrote into the repository"
    return ""


def tries(folder: Path, names: tuple[str, ...] = NAMES) -> Iterator[tuple[str, str]]:
    """(name, what was wrong) of each hostile name in every place where a name is taken."""
    (folder / "root").mkdir()
    (folder / "work").mkdir()
    with chdir(folder / "work"):
        for name in names:
            for arguments in _commands(name, folder):
                (folder / "pairs.csv").write_text("reference,candidate\na b,a b\n", encoding="utf-8")
                try:
                    given = [os.fsdecode(os.fsencode(part)) for part in arguments]
                except (UnicodeEncodeError, ValueError):
                    continue  # no shell or system can pass it
                yield name, _fault(given, folder)
