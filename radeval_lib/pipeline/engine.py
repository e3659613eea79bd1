"""Call Snakemake, keep its whole log, and show of it what a person wants to see."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from radeval_lib.errors import RadevalError
from radeval_lib.paths import BUILD, ROOT, shown

# Our own rules' messages and errors, and Snakemake's count of steps.
_SHOWN = re.compile(
    r"^(running |training |rendering |radbook: |\d+ of \d+ steps)|^(MissingInput|Syntax)\w*(Exception|Error)"
)


def run_workflow(
    profile: str, data_root: Path | None, cores: int, say: Callable[[str], None], dry_run: bool = False
) -> None:
    """Bring the profile's book up to date.

    Parameters
    ----------
    profile : name of a profile.
    data_root : folder of data files, or None.
    cores : notebooks that run at once.
    say : gets each line worth showing.
    dry_run : only say what would run.

    Raises
    ------
    RadevalError
        Where a step failed; every other step that could run has run.
    """
    log = BUILD / profile / "build.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [
        sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--directory", str(ROOT),
        "--cores", str(cores), "--keep-going", "--rerun-incomplete", "--nolock", "--nocolor",
        "--config", f"profile={profile}", f"data_root={data_root.resolve() if data_root else ''}",
    ]  # fmt: skip
    if dry_run:
        command.append("--dry-run")
    # As many notebooks as cores run at once, each on its share: threads that wait for one another only cost.
    share = str(max(1, (os.cpu_count() or 1) // cores))
    environment = {"OMP_NUM_THREADS": share, "TOKENIZERS_PARALLELISM": "false", **os.environ}
    with (
        log.open("w", encoding="utf-8") as kept,
        subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
        ) as snakemake,
    ):
        for line in snakemake.stdout or ():
            kept.write(line)
            kept.flush()
            # A job's message stands behind its time stamp and rule, "[time] Job 3: message".
            told = re.sub(r"^Job \d+: ", "", line.rstrip())
            if _SHOWN.match(told) or (dry_run and "would" in told):
                say(told)
    if snakemake.returncode:
        raise RadevalError(
            "the build did not finish",
            "radbook build",
            f"The lines above name the notebook and cell; the whole log is in {shown(log)}.",
        )
