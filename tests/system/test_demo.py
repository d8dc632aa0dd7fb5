"""What `make demo` builds: every page has something to look at, and runs are comparable."""

import pytest

from benchwright.matrices.static_vectors import is_installed
from tests.system.site import Site

# One process builds the demo for all.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("demo")]
POOLED = ("bm25", "bm25-stem", "tfidf-char", "tfidf-word")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A site in which the demo was built twice: the second time there is nothing to do."""
    with Site(tmp_path_factory.mktemp("demo")) as site:
        site.manage("demo")
        assert "The demo is built" not in site.manage("demo")
        yield site


def test_first_ten_documents_of_pooled_runs_are_judged(built):
    rows = built.rows(
        "SELECT r.name, s.mean FROM scoring_score s"
        " JOIN scoring_scoreset t ON s.score_set_id = t.id"
        " JOIN benchmarks_app_run r ON t.run_id = r.id"
        " WHERE s.measure = 'Judged@10' AND s.slice_name = ''"
    )
    judged = {name: mean for name, mean in rows if name in POOLED}

    assert sorted(judged) == sorted(POOLED)
    assert min(judged.values()) >= 0.95


def test_twelve_queries_wait_without_a_label(built):
    rows = built.rows("SELECT count(DISTINCT query_id) FROM annotation_judgment")

    assert rows == [(48,)]
    assert built.rows("SELECT count(*) FROM benchmarks_app_query") == [(60,)]


def test_two_assessors_differ_and_somebody_has_to_say_which_is_right(built):
    rows = built.rows(
        "SELECT count(*), sum(CASE WHEN a.grade <> b.grade THEN 1 ELSE 0 END)"
        " FROM annotation_judgment a JOIN annotation_judgment b"
        " ON a.query_id = b.query_id AND a.docid = b.docid"
        " WHERE a.rater = 'first assessor' AND b.rater = 'second assessor'"
    )
    ((n_twice, n_differing),) = rows

    assert n_twice > 50
    assert 3 <= n_differing <= 6
    assert built.rows("SELECT adjudicate_from FROM annotation_aggregationpolicy") == [(1,)]


def test_six_slices_have_members_and_the_largest_is_registered(built):
    rows = built.rows(
        "SELECT s.name, s.is_registered, count(m.id) FROM benchmarks_app_slice s"
        " JOIN benchmarks_app_slicemember m ON m.slice_id = s.id AND m.state = 'member'"
        " GROUP BY s.name, s.is_registered"
    )

    assert {name for name, _, _ in rows} == {
        *("head", "tail", "exact match", "semantic", "navigational", "informational")
    }
    assert [name for name, is_registered, _ in rows if is_registered] == ["tail"]


def test_families_are_split_and_each_split_has_its_phase(built):
    splits = built.rows("SELECT DISTINCT split FROM benchmarks_app_queryfamily")
    phases = built.rows("SELECT split, name FROM scoring_phase")

    assert {split for (split,) in splits} == {"train", "dev", "test"}
    assert {split for split, _ in phases} == {"dev", "test"}


def test_gate_has_decided_about_what_sam_submitted(built):
    rows = built.rows(
        "SELECT r.name, g.state, g.verdict FROM scoring_gateresult g"
        " JOIN benchmarks_app_run r ON g.candidate_id = r.id"
    )

    assert [(name, state) for name, state, _ in rows] == [("rank fusion", "decided")]
    assert rows[0][2] in {"pass", "pass_strict", "hold", "block", "inconclusive"}


@pytest.mark.parametrize(
    "table",
    [
        *("scoring_submission", "scoring_contextualcase", "annotation_question"),
        *("benchmarks_app_querylog", "benchmarks_app_splitplan", "scoring_livesystem"),
    ],
)
def test_page_has_something_to_show(built, table):
    ((n_rows,),) = built.rows(f"SELECT count(*) FROM {table}")  # names of ours

    assert n_rows > 0


def test_no_job_has_failed_or_waits(built):
    rows = built.rows("SELECT kind, state FROM benchmarks_app_job WHERE state <> 'done'")

    assert rows == []


def test_needs_and_answers_are_embedded_where_the_small_model_is_installed(built):
    rows = built.rows("SELECT name, n_pairs FROM scoring_embeddingpair")

    if is_installed():
        ((name, n_pairs),) = rows
        assert "wordllama" in name and n_pairs > 10
    else:
        assert rows == []
