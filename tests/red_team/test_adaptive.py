"""200 submissions that adapt, by one team and by ten: what they learn of hidden grades."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchwright.realdata import data_folder
from tests.scoring import laddering
from tests.scoring.hiding import HIDDEN, lines, plain_run
from tests.scoring.laddering import BOARD

ROOT = Path(__file__).parents[2]
# In percentage points of 2,000 pairs, beyond the best guess without the site.
MOST = 1.0
GAINS = re.compile(r"[-+]\d+\.\d\d")


def rows_of_gains(text: str) -> list[list[float]]:
    """What each attack gains: with the Ladder, with steps of one standard error, without."""
    rows = [[float(gain) for gain in GAINS.findall(line)] for line in text.splitlines()]
    return [row for row in rows if row]


def test_adaptive_submissions_learn_next_to_nothing_with_the_ladder_only():
    """The command prints the table of docs/security.md: attacks by rows, one team and ten."""
    command = [sys.executable, "-m", "tests.red_team", str(data_folder("cranfield"))]
    printed = rows_of_gains(subprocess.check_output(command, cwd=ROOT, text=True, timeout=300))
    documented = rows_of_gains((ROOT / "docs" / "security.md").read_text())

    assert len(printed) == 6
    assert printed == [pytest.approx(row, abs=0.1) for row in documented]
    assert all(ladder <= MOST for ladder, *_ in printed)
    assert all(gain > MOST for *_, gain in printed[::2])  # by one team


# --- through the site ------------------------------------------------------------------------


@pytest.fixture
def site(db, tmp_path):
    return laddering.Site(tmp_path)


def learnt(site: laddering.Site, n: int) -> list[bool | None]:
    """Of the second documents of some hidden queries, one a submission, whether it is relevant."""
    base = plain_run()
    means = []
    for number in range(n + 1):
        result = dict(base)
        if number:
            qid = HIDDEN[number - 1]
            first, second, *others = base[qid]
            result[qid] = [second, first, *others]
        site.submit_lines(lines(result), name=f"probe {number}")
        rows = site.client("sam").get(BOARD, {"split": "test"}).json()["rows"]
        means.append(next(row["nDCG@10"] for row in rows if row["run"] == f"probe {number}"))
    return [None if mean == means[0] else mean > means[0] for mean in means[1:]]


def test_one_document_at_a_time_tells_nothing(site):
    assert learnt(site, 4) == [None] * 4


def test_one_document_at_a_time_tells_all_without_the_ladder(site):
    type(site.phase).objects.update(has_ladder=False)

    assert learnt(site, 4) == [True] * 4
