"""What is reported about where a result comes from does not depend on what the process did before."""

from __future__ import annotations

import json
import subprocess
import sys

from radeval_lib import provenance


def test_versions_are_reported_whether_packages_are_loaded_or_not() -> None:
    code = (
        "import json, sys\nfrom radeval_lib import provenance\n"
        "assert not {'torch', 'numpy'} & set(sys.modules)\n"
        "print(json.dumps([provenance.environment(), provenance.library_digest()]))"
    )
    fresh = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    import torch  # noqa: F401

    assert json.loads(fresh.stdout) == [provenance.environment(), provenance.library_digest()]
    assert {"numpy", "torch", "radeval-lib"} <= set(provenance.package_versions())
