"""What moved from one release to the next: on its page, in files, in the API, and for boards."""

import csv
import io

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Release, Run
from benchwright.evaluation.moves import LabelCounts
from scoring.rescoring.selectors import moves_of, previous_release
from scoring.rescoring.services.moving import moves_asked, moves_for_board
from scoring.scores.shown import FIRST_MEASURE
from tests import factories
from tests.scoring.conftest import GRADES

# Of q1: d1 is graded 3 and d2 1 at first; then somebody judges d9, which only one run has found.
ANSWERS = "q1 Q0 d1 1 3 s\nq2 Q0 d4 1 1 s"
FINDS_NEW = "q1 Q0 d9 1 3 s\nq1 Q0 d2 2 2 s\nq2 Q0 d4 1 1 s"
THIRD = "q1 Q0 d2 1 3 s"
LATER = {**GRADES, ("q1", "d9"): 3, ("q1", "d1"): 0}


@pytest.fixture
def later(benchmark, release, publish) -> Release:
    """Three runs on two releases: `finds new` goes from second to first, `answers` down."""
    for name, lines in (("answers", ANSWERS), ("finds new", FINDS_NEW), ("third", THIRD)):
        factories.run(benchmark, lines, name=name)
    from scoring.rescoring.services.rescoring import start_scoring_new_runs

    start_scoring_new_runs(benchmark, None)
    jobs.run_queued()
    made = publish(factories.qrel_set(benchmark, LATER), "2.0.0")
    jobs.run_queued()
    return made


def address(release, what: str = "moves/") -> str:
    return f"/b/{release.benchmark.slug}/v/{release.version}/{what}"


def asked(later, user, **more):
    return moves_asked(
        before=previous_release(later), after=later, user=user, measure=FIRST_MEASURE, **more
    )


# --- ranks ---------------------------------------------------------------------------------


def test_runs_are_listed_by_how_far_they_moved(later, owner):
    moves = moves_of(later, user=owner, measure=FIRST_MEASURE, before=previous_release(later))

    rows = [(row.run.name, row.rank_before, row.rank_after, row.places) for row in moves.rows]
    assert rows == [("finds new", 2, 1, 1), ("answers", 1, 2, -1), ("third", 3, 3, 0)]
    assert moves.n_labels == 2
    assert moves.by_run[moves.rows[0].run.pk].places == 1


def test_run_of_the_new_release_alone_changes_no_rank(later, owner, scored):
    perfect = "q1 Q0 d9 1 9 s\nq1 Q0 d2 2 8 s\nq2 Q0 d4 1 1 s"
    scored(perfect, "perfect", on=later)

    moves = moves_of(later, user=owner, measure=FIRST_MEASURE, before=previous_release(later))

    assert moves.rows[-1].run.name == "perfect"
    assert moves.rows[-1].places is None
    assert [row.rank_after for row in moves.rows[:2]] == [1, 2]


def test_run_that_one_may_not_see_has_no_place(later, owner, vi):
    Run.objects.filter(name="finds new").update(visibility=Run.Visibility.OWNER)

    moves = moves_of(later, user=vi, measure=FIRST_MEASURE, before=previous_release(later))

    assert [(row.run.name, row.rank_before, row.rank_after) for row in moves.rows] == [
        ("answers", 1, 1),
        ("third", 2, 2),
    ]


def test_first_release_has_no_moves(release, owner):
    assert previous_release(release) is None
    assert moves_for_board(release, user=owner, measure=FIRST_MEASURE) is None


# --- causes --------------------------------------------------------------------------------


def test_labels_of_what_a_run_retrieved_are_counted(later, owner):
    answer = asked(later, owner)

    rows = {row.run.name: row for row in answer.explained(answer.moves.rows, lambda: True)}

    assert rows["finds new"].labels == LabelCounts(added=1)
    assert rows["answers"].labels == LabelCounts(changed=1)
    assert rows["third"].labels == LabelCounts()
    assert rows["finds new"].said == (
        "up 1 place: 1 label of what it retrieved changed (1 added); "
        "mainly +0.1448 as labels were added to what it retrieved"
    )
    assert answer.compared.labels == LabelCounts(added=1, changed=1)


def test_parts_add_up_to_the_difference_of_the_stored_means(later, owner):
    answer = asked(later, owner)

    for row in answer.explained(answer.moves.rows, lambda: True):
        assert sum(row.explained.parts.values()) == pytest.approx(row.difference, abs=1e-12)
        assert row.explained.before == pytest.approx(row.mean_before, abs=1e-12)


def test_labels_that_a_run_did_not_retrieve_move_its_mean_too(later, owner):
    answer = asked(later, owner)
    rows = {row.run.name: row for row in answer.explained(answer.moves.rows, lambda: True)}

    # d2 is all it has: one answer took the place of another in the best ranking there is.
    assert rows["third"].explained.parts["added"] < 0
    assert rows["third"].explained.parts["changed"] > 0
    assert rows["third"].difference == pytest.approx(0, abs=1e-12)
    # Neither is "mainly" why nothing moved.
    size = f"{rows['third'].explained.parts['changed']:.4f}"
    assert rows["third"].cause == (
        f"+{size} as labels changed, against -{size} as 1 new relevant document was found elsewhere"
    )


def test_no_time_left_leaves_the_causes_for_later(later, owner):
    answer = asked(later, owner)

    rows = answer.explained(answer.moves.rows, lambda: False)

    assert [row.labels for row in rows] == [None, None, None]


def test_causes_are_worked_out_once(later, owner, monkeypatch):
    answer = asked(later, owner)
    rows = answer.explained(answer.moves.rows, lambda: True)

    monkeypatch.setattr("scoring.rescoring.selectors._causes", lambda *_: 1 / 0)

    assert answer.explained(answer.moves.rows, lambda: True) == rows


# --- a hidden split ------------------------------------------------------------------------


@pytest.fixture
def hidden(later, monkeypatch):
    """q1 is in a hidden split of the later release."""
    monkeypatch.setattr(
        "scoring.scores.services.firewall.hidden_queries",
        lambda release: frozenset({"q1"}) if release.pk == later.pk else frozenset(),
    )
    return later


def test_hidden_split_is_neither_counted_nor_taken_apart(hidden, vi):
    answer = asked(hidden, vi)
    rows = answer.explained(answer.moves.rows, lambda: True)

    assert answer.is_withheld
    assert answer.compared.labels == LabelCounts()
    assert all(row.labels == LabelCounts() and row.explained is None for row in rows)
    assert all(row.mean_after == round(row.mean_after, 3) for row in rows)


def test_keeper_sees_what_the_hidden_split_moved(hidden, owner):
    answer = asked(hidden, owner)

    assert not answer.is_withheld
    assert answer.compared.labels.total == 2


def test_small_column_of_a_board_rounds_what_either_release_hides(hidden, later, vi, owner):
    for person, is_rounded in ((vi, True), (owner, False)):
        rows = moves_for_board(later, user=person, measure=FIRST_MEASURE).rows
        assert all(row.mean_after == round(row.mean_after, 3) for row in rows) == is_rounded

    assert moves_for_board(later, user=vi, measure=FIRST_MEASURE, slice_name="secret") is None


def test_page_of_a_hidden_split_says_what_it_withholds(signed_in, hidden, vi):
    page = signed_in(vi).get(address(hidden)).content.decode()

    assert "A split of these releases is hidden" in page
    assert "Labels added" not in page


# --- page, files, API ------------------------------------------------------------------------


def test_page_shows_the_move_with_its_labels(signed_in, later, vi):
    page = signed_in(vi).get(address(later)).content.decode()

    assert "2 of 3 runs changed rank by nDCG@10" in page
    assert "2 labels differ: 1 added, 1 changed, 0 removed." in page
    assert "up 1 place: 1 label of what it retrieved changed (1 added)" in page


def test_parts_that_no_run_has_are_no_columns(signed_in, later, vi):
    record = signed_in(vi).get(address(later))

    assert [name for _, name in record.context["parts"]] == ["Labels added", "Labels changed"]
    assert record.content.decode().count("elsewhere \N{MINUS SIGN}") == 2


def test_first_release_has_a_page_that_says_so(signed_in, release, vi):
    page = signed_in(vi).get(address(release)).content.decode()

    assert "1.0.0 is the first release" in page


def test_release_that_is_no_earlier_one_is_not_found(signed_in, later, vi):
    assert signed_in(vi).get(address(later) + "?from=2.0.0").status_code == 404
    assert signed_in(vi).get(address(later) + "?from=1.0.0").status_code == 200


def test_measure_that_was_not_stored_is_computed_on_both(signed_in, later, vi):
    page = signed_in(vi).get(address(later) + "?measure=P@1").content.decode()

    assert "changed rank by P@1" in page
    assert "▲" in page


def test_table_has_every_run_with_exact_numbers(signed_in, later, vi):
    answer = signed_in(vi).get(address(later, "moves.csv"))

    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert answer.headers["Content-Disposition"].endswith('"stdlib-1.0.0-to-2.0.0.csv"')
    assert [(row["run"], row["places"], row["labels_added"]) for row in rows] == [
        ("finds new", "1", "1"),
        ("answers", "-1", "0"),
        ("third", "0", "0"),
    ]
    parts = ("by_added", "by_changed", "by_removed", "by_queries", "by_rules")
    for row in rows:
        assert sum(float(row[name]) for name in parts) == pytest.approx(float(row["difference"]))


def test_name_of_a_run_does_nothing_in_a_spreadsheet(signed_in, later, vi):
    Run.objects.filter(name="third").update(name="=1+1")

    assert "'=1+1" in signed_in(vi).get(address(later, "moves.csv")).content.decode()


def test_text_for_a_changelog_is_markdown(signed_in, later, vi):
    Run.objects.filter(name="third").update(name="a|b")

    text = signed_in(vi).get(address(later, "moves.md")).content.decode()

    assert text.startswith("# 1.0.0 to 2.0.0: nDCG@10\n\n2 of 3 runs moved. 2 labels differ")
    assert "| a\\|b |" in text


def test_api_tells_the_same(signed_in, later, vi):
    answer = signed_in(vi).get("/api/v1/benchmarks/stdlib/releases/2.0.0/moves/?from=1.0.0").json()

    assert (answer["before"], answer["after"], answer["is_withheld"]) == ("1.0.0", "2.0.0", False)
    first = answer["runs"][0]
    assert (first["name"], first["places"]) == ("finds new", 1)
    assert first["labels"] == {"added": 1, "changed": 0, "removed": 0}
    assert sum(first["parts"].values()) == pytest.approx(first["mean_after"] - first["mean_before"])


def test_nothing_moved_on_the_first_release(signed_in, release, vi):
    client = signed_in(vi)
    answer = client.get("/api/v1/benchmarks/stdlib/releases/1.0.0/moves/")

    assert (answer.status_code, answer.json()["before"], answer.json()["runs"]) == (200, None, [])
    assert len(client.get(address(release, "moves.csv")).content.splitlines()) == 1


@pytest.mark.parametrize(
    ("asked_for", "status", "code"),
    [
        ("releases/2.0.0/moves/?from=9.9.9", 404, "not-found"),
        ("releases/2.0.0/moves/?slice=none", 422, "unknown-slice"),
        ("releases/2.0.0/moves/?measure=none", 422, "unknown-measure"),
    ],
)
def test_api_says_what_cannot_be_compared(signed_in, later, vi, asked_for, status, code):
    answer = signed_in(vi).get(f"/api/v1/benchmarks/stdlib/{asked_for}")

    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_page_asks_the_database_as_often_for_many_runs(signed_in, later, owner, scored):
    client = signed_in(owner)
    counts = []
    for n in (0, 8):
        for number in range(n):
            scored(THIRD, f"more{number}", on=later)
        client.get(address(later))
        with CaptureQueriesContext(connection) as queries:
            client.get(address(later))
        counts.append(len(queries))

    assert counts[1] <= counts[0]
