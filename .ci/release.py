"""Writes the next version wherever it stands: `make release VERSION=0.2.0` (docs/releasing.md).

What stands under Unreleased becomes the version's. It commits, tags and sends nothing.
"""

import sys
from datetime import date

from release_check import PLACES, ROOT, changelog_faults, version


def released(changelog: str, of: str, day: date) -> str:
    """The changelog in which what stood under Unreleased is of a version and its day."""
    return changelog.replace("## Unreleased\n", f"## Unreleased\n\n## {of} ({day})\n", 1)


def main(of: str, day: date) -> int:
    """Write the version, unless it is none, or not newer than the last one."""
    changelog = ROOT / "docs" / "CHANGELOG.md"
    after = released(changelog.read_text("utf-8"), of, day)
    faults = list(changelog_faults(after))
    if faults:
        sys.stdout.writelines(f"release: {fault}\n" for fault in faults)
        return 1
    before = version()
    changelog.write_text(after, "utf-8")
    for name, words in {"pyproject.toml": 'version = "{}"', **PLACES}.items():
        path = ROOT / name
        old, new = (words.format(one) for one in (before, of))
        path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")
    sys.stdout.write(
        f"release: {of} is written; look at `git diff`, then\n"
        f"  git commit -am 'Release {of}' && git tag -s v{of} -m 'Benchwright {of}'\n"
        "  make release-check\n"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1] if len(sys.argv) > 1 else "", date.today()))
