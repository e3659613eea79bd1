"""``python -m radeval_lib.cli``: the same as ``radbook``."""

from radeval_lib.cli import main

if __name__ == "__main__":  # and not where a process that helps with scores begins
    main(prog_name="radbook")
