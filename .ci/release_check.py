"""Whether everything is there that a release is made of: `make release-check` (docs/releasing.md).

Says what is missing, and ends with 1. It builds in a folder of its own, and sends nothing.
"""

import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path

VERSION = r"((?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}) \((\d{4}-\d\d-\d\d)\)"
ROOT = Path(__file__).resolve().parent.parent
# Where else the version stands: file and how.
PLACES = {"CITATION.cff": "version: {}", "docs/gate-in-ci.md": "v{}"}


def version() -> str:
    """The version that pyproject.toml says."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return str(project["version"])


def changelog_faults(changelog: str) -> Iterator[str]:
    """What is not as it should be: Unreleased, then versions from the newest on, each of a day."""
    headings = [
        (number, line[3:])
        for number, line in enumerate(changelog.splitlines(), start=1)
        if line.startswith("## ")
    ]
    if not headings or headings[0][1] != "Unreleased":
        yield "docs/CHANGELOG.md does not begin with '## Unreleased'"
    earlier: tuple[tuple[int, ...], date] | None = None
    for number, heading in headings[1:]:
        here = f"docs/CHANGELOG.md:{number}: '{heading}'"
        try:
            version_of, day = re.fullmatch(VERSION, heading).groups()
            this = tuple(map(int, version_of.split("."))), date.fromisoformat(day)
        except (AttributeError, ValueError):
            yield f"{here}; expected a version and its day, such as 0.2.0 (2027-01-31)"
            continue
        if earlier and not (this[0] < earlier[0] and this[1] <= earlier[1]):
            yield f"{here} is not older than the one above; the newest stands first"
        earlier = this
    for section in re.split("^## ", changelog, flags=re.MULTILINE)[2:]:
        if not re.search("^- ", section, re.MULTILINE):
            yield f"docs/CHANGELOG.md says nothing of {section.splitlines()[0]}"


def words_missing(of: str) -> Iterator[str]:
    """What changelog and citation do not say of a version."""
    changelog = (ROOT / "docs" / "CHANGELOG.md").read_text("utf-8")
    yield from changelog_faults(changelog)
    if not re.search(rf"^## {re.escape(of)} \(\d{{4}}-\d\d-\d\d\)$", changelog, re.MULTILINE):
        yield f"docs/CHANGELOG.md has no heading '## {of} (YYYY-MM-DD)'"
    if unreleased := re.search(r"^## Unreleased\n+(?=- )", changelog, re.MULTILINE):
        line = changelog[: unreleased.start()].count("\n") + 1
        advice = "`make release VERSION=…` gives it the version to come"
        yield f"docs/CHANGELOG.md:{line}: something stands under Unreleased; {advice}"
    for name, words in PLACES.items():
        if not re.search(rf"\b{re.escape(words.format(of))}\b", (ROOT / name).read_text("utf-8")):
            yield f"{name} is not of version {of}"


def tag_missing(of: str) -> Iterator[str]:
    """Whether this commit has the version's tag, and holds what stands here."""
    if f"v{of}" not in _git("tag", "--points-at", "HEAD").split():
        yield f"HEAD has no tag v{of}"
    if _git("status", "--porcelain"):
        yield "there are changes that are not committed"


def _git(*words: str) -> str:
    command = ["git", "-C", str(ROOT), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def packages_missing(of: str, folder: Path) -> Iterator[str]:
    """What is wrong with sdist and wheel, which are built from what is committed."""
    source = folder / "source"
    source.mkdir()
    archive = folder / "source.tar"
    _git("archive", "--output", str(archive), "HEAD")
    subprocess.run(["tar", "-xf", archive, "-C", source], check=True)
    for kind in ("sdist", "wheel"):
        code = f"from setuptools import build_meta; build_meta.build_{kind}({str(folder)!r})"
        done = subprocess.run([sys.executable, "-c", code], cwd=source, capture_output=True)
        if done.returncode:
            yield f"the {kind} cannot be built:\n{done.stderr.decode()[-2000:]}"
    if not (folder / f"benchwright-{of}.tar.gz").is_file():
        yield f"there is no sdist of {of}"
    wheels = list(folder.glob(f"benchwright-{of}-*.whl"))
    if not wheels:
        yield f"there is no wheel of {of}"
    for wheel in wheels:
        names = zipfile.ZipFile(wheel).namelist()
        for name in ("docs_site/index.html", "docs_site/searchindex.js", "docs/CHANGELOG.md"):
            if f"benchmarks_app/{name}" not in names:
                yield f"{wheel.name} has no benchmarks_app/{name}"
        if not any(name.endswith(".so") for name in names):
            yield f"{wheel.name} has no compiled scanner"


def main() -> int:
    """Say what is missing for the version."""
    of = version()
    missing = [*words_missing(of), *tag_missing(of)]
    with tempfile.TemporaryDirectory() as folder:
        missing += packages_missing(of, Path(folder))
    sys.stdout.writelines(f"release-check: {one}\n" for one in missing)
    sys.stdout.write(f"release-check: {of} is {'not ready' if missing else 'ready'}\n")
    return bool(missing)


if __name__ == "__main__":
    raise SystemExit(main())
