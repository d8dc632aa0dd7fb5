"""What `pyproject.toml` cannot say: folders of the checkout that a wheel has inside a package.

Everything else is said there. Why it is so: docs/adr/0039-a-wheel-carries-the-site.md, and 0045 for
the documentation.
"""

import importlib.util
import subprocess
import sys
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent

CARRIED = {
    "benchmarks_app.docs": "docs",
    "benchmarks_app.templates": "templates",
    "benchmarks_app.fixtures.demo": "fixtures/demo",
}


class BuildWithDocs(build_py):
    """Modules and files, and the documentation where there is what builds it."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        if any(importlib.util.find_spec(name) is None for name in ("sphinx", "myst_parser")):
            self.warn("neither Sphinx nor MyST: this wheel has no built documentation")
            return
        folder = Path(self.build_lib).resolve() / "benchmarks_app" / "docs_site"
        script = ROOT / "docs" / "site" / "build.py"
        subprocess.run([sys.executable, script, folder], check=True)


setup(
    cmdclass={"build_py": BuildWithDocs},
    packages=[
        *find_packages(include=["benchwright*", "benchmarks_app*", "annotation*", "scoring*"]),
        *CARRIED,
    ],
    package_dir=CARRIED,
)
