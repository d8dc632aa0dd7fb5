"""What `pyproject.toml` cannot say: folders of the checkout that a wheel has inside a package.

Everything else is said there. Why it is so: docs/adr/0039-a-wheel-carries-the-site.md.
"""

from setuptools import find_packages, setup

CARRIED = {
    "benchmarks_app.docs": "docs",
    "benchmarks_app.templates": "templates",
    "benchmarks_app.fixtures.demo": "fixtures/demo",
}

setup(
    packages=[
        *find_packages(include=["benchwright*", "benchmarks_app*", "annotation*", "scoring*"]),
        *CARRIED,
    ],
    package_dir=CARRIED,
)
