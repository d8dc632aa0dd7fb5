"""A database of an earlier version, with rows, is brought up to date, taken back and forth."""

from collections.abc import Iterator

import pytest

from tests.system.site import Site

# One process takes the site back for both.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("upgrade")]
NEW = {
    "holders": [[None, "W1"], ["olga", ""], [None, ""]],
    "has_end": [False, True, False],
    "first_seen": ["2011-02-08T11:30:27+00:00", None, None],
    "metadata": [
        {"querytime": "Tue Feb 08 12:30:27 +0100 2011"},
        {"querytime": "long ago"},
        {},
    ],
    "scopes": [["read", "submit", "judge", "manage"]],
    "judges": [["j", "k"]],
}
# What is set aside keeps its end, which the version before does not look at.
OLD = NEW | {"holders": [["bo", ""], ["olga", ""], [None, ""]], "first_seen": [None] * 3}
OLD["scopes"] = [[]]  # tokens had none, and were good for everything


@pytest.fixture(scope="module")
def old_site(tmp_path_factory) -> Iterator[Site]:
    """A site of the old version, of whose rows `backups` in its folder is a backup."""
    with Site(tmp_path_factory.mktemp("old")) as site:
        site.longest_seconds = 400  # every migration since is taken back
        site.call("upgrade", steps=["back", "fill"])
        site.call("write_rows", place=str(site.folder / "backups"))
        yield site


def test_rows_of_an_earlier_version_are_brought_up_to_date_back_and_forth(old_site):
    assert old_site.call("upgrade", steps=["forth", "rows"]) == NEW
    assert old_site.call("upgrade", steps=["back", "rows"]) == OLD
    with pytest.raises(AssertionError, match="append-only"):
        old_site.call("upgrade", steps=["regrade"])
    assert old_site.call("upgrade", steps=["forth", "rows"]) == NEW
    assert old_site.rows("SELECT unlisted FROM benchmarks_app_qrelset") == [("unknown",)]
    with pytest.raises(AssertionError, match="append-only"):
        old_site.call("upgrade", steps=["regrade"])


def test_backup_of_an_earlier_version_is_restored_and_brought_up_to_date(old_site, tmp_path):
    with Site(tmp_path / "new") as site:
        site.longest_seconds = 600  # every migration is applied again
        site.manage("restore", str(old_site.folder / "backups"), "--verbosity", "0")

        assert site.call("upgrade", steps=["rows"]) == NEW
        with pytest.raises(AssertionError, match="append-only"):
            site.call("upgrade", steps=["regrade"])
