"""Puts the manifests, which lie at the repository's root, into the wheel beside the code that reads them."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithManifests(build_py):
    """The modules, and the manifests as data of the package; the code beside notebooks stays in the clone."""

    def run(self) -> None:
        if not self.editable_mode:
            self.packages = [name for name in self.packages if name.partition(".")[0] != "notebooks"]
        super().run()
        if not self.editable_mode:
            packaged = Path(self.build_lib) / "radeval_lib" / "manifests"
            shutil.copytree("data_manifests", packaged, dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithManifests})
