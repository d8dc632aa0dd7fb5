"""200 submissions that adapt, by one team and by ten: what they learn of hidden grades.

The full table is in docs/security.md; `python -m tests.red_team.adaptive` prints it again.
"""

import pytest

from tests.benchwright.realdata import data_folder
from tests.red_team.adaptive import ATTACKS, Collection, Site, significant
from tests.scoring import laddering
from tests.scoring.hiding import HIDDEN, lines, plain_run
from tests.scoring.laddering import BOARD

N_SUBMISSIONS = 200
# In percentage points of 2,000 pairs, beyond the best guess without the site.
MOST = 1.0


@pytest.fixture(scope="module")
def cranfield() -> Collection:
    return Collection.cranfield(data_folder("cranfield"))


@pytest.mark.parametrize("n_teams", [1, 10])
@pytest.mark.parametrize("attack", ATTACKS)
def test_adaptive_submissions_learn_next_to_nothing(cranfield, attack, n_teams):
    guess = ATTACKS[attack](Site(cranfield, significant), N_SUBMISSIONS, n_teams)

    assert cranfield.gain(guess) <= MOST


@pytest.mark.parametrize("attack", ATTACKS)
def test_attacks_learn_where_every_mean_is_told(cranfield, attack):
    guess = ATTACKS[attack](Site(cranfield, None), N_SUBMISSIONS, 1)

    assert cranfield.gain(guess) > MOST


# --- through the site ------------------------------------------------------------------------


@pytest.fixture
def site(db, tmp_path):
    return laddering.Site(tmp_path)


def learnt(site: laddering.Site, n: int) -> list[bool | None]:
    """Of the second documents of some hidden queries, one a submission, whether it is relevant."""
    base = plain_run()
    means = []
    for number in range(n + 1):
        found = dict(base)
        if number:
            qid = HIDDEN[number - 1]
            first, second, *others = base[qid]
            found[qid] = [second, first, *others]
        site.submit_lines(lines(found), name=f"probe {number}")
        told = site.client("sam").get(BOARD, {"split": "test"}).json()["rows"]
        means.append(next(row["nDCG@10"] for row in told if row["run"] == f"probe {number}"))
    return [None if mean == means[0] else mean > means[0] for mean in means[1:]]


def test_one_document_at_a_time_tells_nothing(site):
    assert learnt(site, 4) == [None] * 4


def test_one_document_at_a_time_tells_all_without_the_ladder(site):
    type(site.phase).objects.update(has_ladder=False)

    assert learnt(site, 4) == [True] * 4
