"""A database of an earlier version, with rows, is brought up to date, taken back and restored."""

import pytest

from tests.system.site import Site

pytestmark = pytest.mark.slow
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


def test_rows_of_an_earlier_version_are_brought_up_to_date_from_a_backup_and_taken_back(tmp_path):
    with Site(tmp_path / "old") as site:
        site.drop_tables()
        site.call("upgrade", steps=["back", "fill"])
        site.call("write_rows", place=str(tmp_path / "backups"))

    with Site(tmp_path / "new") as site:
        site.manage("restore", str(tmp_path / "backups"), "--verbosity", "0")

        assert site.call("upgrade", steps=["rows"]) == NEW
        assert site.rows("SELECT unlisted FROM benchmarks_app_qrelset") == [("unknown",)]
        with pytest.raises(AssertionError, match="append-only"):
            site.call("upgrade", steps=["regrade"])
        assert site.call("upgrade", steps=["back", "rows"]) == OLD
        with pytest.raises(AssertionError, match="append-only"):
            site.call("upgrade", steps=["regrade"])
