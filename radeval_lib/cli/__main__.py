"""Entry point of ``python -m radeval_lib.cli``, which is equivalent to ``radbook``."""

from radeval_lib.cli import main

if __name__ == "__main__":  # false in a worker process, which imports this module under another name
    main(prog_name="radbook")
