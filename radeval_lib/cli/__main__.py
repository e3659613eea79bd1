"""``python -m radeval_lib.cli``: the same as ``radbook``."""

from radeval_lib.cli import main

main(prog_name="radbook")
