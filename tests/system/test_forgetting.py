"""A deleted person's name is in no byte of the database's files, nor of the data folder."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system.forgetting import EMAIL, FIRST, LAST, NAME
from tests.system.site import Site

FORMS = [
    *(NAME.encode(), EMAIL.encode(), f"{FIRST} {LAST}".encode(), LAST.encode()),
    json.dumps(f"{FIRST} {LAST}")[1:-1].encode(),
]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Site(tmp_path / "site") as made:
        made.python("from tests.system import forgetting; forgetting.name_everywhere()")
        yield made


def files_of(site: Site) -> list[Path]:
    """All files of the data folder, and those of the tables where a server keeps them."""
    files = [path for path in site.folder.rglob("*") if path.is_file()]
    if site.database.startswith("postgres"):
        code = "from tests.system import forgetting; print(*forgetting.table_files(), sep='\\n')"
        kept = [Path(line) for line in site.python(code).split()]
        files += [path for path in kept if path.exists()]
        if len(files) < len(kept) / 2:
            pytest.skip("the server's files cannot be read here")
    return files


def places(site: Site) -> list[str]:
    """Where in which file which form of the name is."""
    return [
        f"{path.name}: {form.decode(errors='replace')}"
        for path in files_of(site)
        for form in FORMS
        if form in path.read_bytes()
    ]


def test_no_byte_of_the_name_is_left(site):
    assert any(NAME in place for place in places(site))  # the search finds what is there

    result = site.manage("delete_user", NAME, "--yes")

    assert places(site) == []
    texts = site.python("from tests.system import forgetting; print(forgetting.texts())")
    assert "person-" in result
    assert f"person-{result.partition('person-')[2][:4]}.csv" in texts
    assert (site.folder / "mail" / "2.log").exists()
    assert not (site.folder / "mail" / "1.log").exists()
