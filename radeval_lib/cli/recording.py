"""``radbook record``: score public test sets, and keep the numbers in the repository."""

from __future__ import annotations

import sys

import click

from radeval_lib.cli import data_root_option, one_line_errors
from radeval_lib.errors import RadevalError
from radeval_lib.paths import NOTEBOOKS, ROOT, RUNS


@click.command()
@click.argument("sets", nargs=-1)
@click.option("--profile", default="open", show_default=True, help="Whose build has the models.")
@click.option("--unfreeze", is_flag=True, help="Score RadPref with the judge as it is now, and count it.")
@click.option("--check", is_flag=True, help="Write nothing; score again and compare with what is stored.")
@data_root_option
@one_line_errors
def record(sets: tuple[str, ...], profile: str, unfreeze: bool, check: bool, data_root: str) -> None:
    """Store the scores of public SETS (default: all) by every metric in data_manifests/recorded."""
    import nbformat
    import papermill
    from papermill.exceptions import PapermillExecutionError

    from radeval_lib.data import recorded
    from radeval_lib.pipeline.execute import ForkedKernelManager
    from radeval_lib.study.sources import read_source

    if check and unfreeze:
        raise click.UsageError("--check and --unfreeze exclude each other. Give one of them.")
    given = {"profile": profile, "data_root": data_root, "unfreeze": unfreeze, "check": check}
    executed = RUNS / "storing"
    executed.mkdir(parents=True, exist_ok=True)
    nbformat.write(read_source(NOTEBOOKS / "storing.md"), executed / "source.ipynb")
    for name in sets or recorded.names():
        try:
            papermill.execute_notebook(
                executed / "source.ipynb",
                executed / f"{name}.ipynb",
                {**given, "name": name},
                kernel_name="python3",
                kernel_manager_class=ForkedKernelManager,
                cwd=ROOT,
                progress_bar=False,
                stdout_file=sys.stdout,
            )
        except PapermillExecutionError as error:
            raise RadevalError(error.evalue, name) from None
