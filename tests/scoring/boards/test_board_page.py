"""The page of a board: its columns, marks, lines, heat, banner and tray, and what it weighs."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.models import QueryFamily, Run, Slice
from benchwright.evaluation.uncertainty import Standing
from scoring.boards import keeping
from scoring.boards.services import heat
from scoring.boards.services.boards import board_of
from scoring.boards.services.judged import judged_shares
from scoring.boards.services.slices import add_slice_means
from scoring.models import Phase, Score, ScoreSet
from scoring.scores.selectors.releases import SCORER_VERSION
from scoring.scores.services import measuring
from scoring.scores.services.slice_scores import board_split
from scoring.scores.shown import any_measure
from tests import factories
from tests.scoring.conftest import GRADES

DASH, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"
PERFECT = "q1 Q0 d1 1 3 s\nq1 Q0 d2 2 2 s\nq2 Q0 d4 1 1 s\nq3 Q0 d6 1 1 s"
HALF = "q1 Q0 d1 1 3 s\nq1 Q0 d2 2 2 s"
URL = reverse("scoring:leaderboard-release", args=["stdlib", "1.0.0"])


def heads(answer) -> list[str]:
    """The chosen columns by their heads."""
    return [column.label for column in answer.context["chooser"].shown]


def row_of(page: str, name: str) -> str:
    """The markup of one run's row."""
    rows = re.findall(r"<tr.*?</tr>", page.partition("<tbody>")[2], flags=re.DOTALL)
    (row,) = (row for row in rows if f">{name}</a>" in row)
    return row


# --- rows ----------------------------------------------------------------------------------


def test_rank_is_a_range_and_its_bar_joins_the_group(scored, signed_in, vi):
    scored(PERFECT, "best")
    scored(HALF, "half")

    answer = signed_in(vi).get(URL)

    lines = answer.context["table"].lines
    for line in lines:
        standing = line.row.standing
        same = standing.best == standing.worst
        expected = str(standing.best) if same else f"{standing.best}{DASH}{standing.worst}"
        assert line.rank == expected
        assert [stroke.is_claim for stroke in line.strokes] == [standing.tie_group == 1]
    assert "Runs that share a bar are not told apart" in answer.content.decode()


def test_letters_stand_for_groups_that_need_too_many_bars(scored, signed_in, vi, monkeypatch):
    for n in range(8):
        scored(PERFECT if n % 2 else HALF, f"run {n}")
    groups = [1, 2, 3, 4, 1, 2, 3, 4]

    def standings(rows, *_):
        pairs = zip(rows, groups, strict=True)
        return {row.source: Standing(1, 8, group) for row, group in pairs}

    monkeypatch.setattr("scoring.boards.services.boards._standings", standings)
    answer = signed_in(vi).get(URL)

    assert [line.letter for line in answer.context["table"].lines] == list("ABCDABCD")
    page = answer.content.decode()
    assert 'class="lanes"' not in page
    assert "same letter: not told apart" in page


def test_intervals_stand_on_one_axis_where_their_numbers_are(scored, signed_in, vi):
    scored(PERFECT, "best")
    scored(HALF, "half")

    answer = signed_in(vi).get(URL)

    table = answer.context["table"]
    low, high = table.axis.low, table.axis.high
    for line in table.lines:
        mean, ends = line.row.scores["nDCG@10"], line.row.intervals["nDCG@10"]
        expected = [100 * (value - low) / (high - low) for value in (mean, *ends)]
        assert list(line.whisker) == pytest.approx(expected, abs=0.051)
    assert f'cx="{table.lines[0].whisker.place}%"' in answer.content.decode()
    # A filter moves nobody on it.
    (alone,) = signed_in(vi).get(f"{URL}?q=half").context["table"].lines
    assert alone.whisker == table.lines[1].whisker


def test_legend_explains_the_marks_that_occur_and_no_others(scored, signed_in, vi, sam):
    scored(PERFECT, "base", kind=Run.Kind.BASELINE)
    scored(HALF, "sent", owner=sam, kind=Run.Kind.SUBMITTED, visibility=Run.Visibility.OWNER)
    Run.objects.filter(name="sent").update(public_from=timezone.now())

    def kinds(person) -> list[str]:
        page = signed_in(person).get(URL).content.decode()
        return re.findall(r'<li><svg class="mark is-(\w+)"', page)

    assert kinds(vi) == ["baseline", "partial"]
    assert kinds(sam) == ["mine", "baseline", "partial"]


# --- columns -------------------------------------------------------------------------------


def test_columns_are_chosen_by_the_address_and_kept_by_filters(scored, signed_in, vi):
    scored(PERFECT, "best")
    client = signed_in(vi)

    usual, chosen = client.get(URL), client.get(f"{URL}?cols=-&cols=MAP&cols=by&q=best")

    assert heads(usual) == ["MRR@10", "Recall@100", "Judged@10"]
    assert heads(chosen) == ["MAP", "By"]
    assert heads(client.get(f"{URL}?cols=-")) == []
    page = chosen.content.decode()
    assert '<input type="hidden" name="cols" value="MAP">' in page  # in the filters' form
    assert '<input type="hidden" name="q" value="best">' in page  # in the columns' form
    assert heads(client.get(chosen.context["permanent"])) == ["MAP", "By"]


def test_intervals_can_be_read_as_numbers(scored, signed_in, vi):
    scored(PERFECT, "best")
    scored(HALF, "half")
    client = signed_in(vi)

    below = 'class="ci is-below">'
    assert below not in client.get(URL).content.decode()
    page = client.get(f"{URL}?cols=-&cols=MRR%4010&cols=intervals").content.decode()
    row = row_of(page, "half")
    assert row.count(below) == 2


def test_what_the_old_board_told_is_a_column_still(scored, signed_in, vi, sam):
    for n in range(2):
        scored(PERFECT if n else HALF, f"try {n}", owner=sam, kind=Run.Kind.SUBMITTED)

    query = "&".join(f"cols={key}" for key in ("by", "type", "kind", "group", "answered", "date"))
    page = signed_in(vi).get(f"{URL}?{query}&cols=adjusted")

    assert heads(page) == ["Adjusted", "By", "Type", "Kind", "Group", "Answered", "Date"]
    row = row_of(page.content.decode(), "try 1")
    for words in ("best of 2", f">{sam}<", "Submitted", "3 of 3", "<time datetime="):
        assert words in row


# --- slices --------------------------------------------------------------------------------


@pytest.fixture
def sliced(benchmark, publish, scored):
    """Release 2.0.0 with the slices `one` (q1), `two` (q2, q3) and a baseline and a run on it."""
    grades = factories.qrel_set(benchmark, GRADES)
    factories.query_slice(benchmark, "one", *benchmark.queries.filter(qid="q1"), minimum=1)
    factories.query_slice(benchmark, "two", *benchmark.queries.filter(qid__in=["q2", "q3"]))
    Slice.objects.filter(name="one").update(minimum=1)
    release = publish(grades, "2.0.0")
    scored(PERFECT, "best", on=release)
    scored(HALF, "half", on=release, kind=Run.Kind.BASELINE)
    return release


SLICED = reverse("scoring:leaderboard-release", args=["stdlib", "2.0.0"])


def test_slices_are_differences_from_the_baseline_and_grey_below_their_minimum(
    sliced, signed_in, vi
):
    """best: 1.0 over one and 0.5 over two; half: 1.0 and 0.0."""
    answer = signed_in(vi).get(SLICED)

    page = answer.content.decode()
    best, half = (row_of(page, name) for name in ("best", "half"))
    assert answer.context["baseline"].run.name == "half"
    assert '<td class="heat u0" data-l="one" title="1.000">±.000</td>' in best
    assert '<td class="heat is-few" data-l="two" title="0.500">+.500</td>' in best
    assert '<td class="heat u0" data-l="one">1.000</td>' in half  # its own means
    assert "grey: too few queries" in page
    other = answer.context["page"][0].run.pk
    turned = row_of(signed_in(vi).get(f"{SLICED}?baseline={other}").content.decode(), "half")
    assert f">{MINUS}.500</td>" in turned


def test_no_more_than_six_slices_stand_unasked(benchmark, publish, scored, signed_in, vi):
    grades = factories.qrel_set(benchmark, GRADES)
    for n in range(8):
        factories.query_slice(benchmark, f"s{n}", *benchmark.queries.filter(qid="q1"))
    scored(PERFECT, "best", on=publish(grades, "2.0.0"))
    client = signed_in(vi)

    six = [f"s{n}" for n in range(6)]
    assert heads(client.get(SLICED)) == [*six, "MRR@10", "Recall@100", "Judged@10"]
    assert heads(client.get(f"{SLICED}?cols=slice:s7")) == ["s7"]


@pytest.fixture
def split_up(benchmark, publish, scored):
    """A function: release 2.0.0, q1 is dev, q2 and q3 are test, slice `mixed` has all three."""

    def make():
        grades = factories.qrel_set(benchmark, GRADES)
        for qid, split in (("q1", "dev"), ("q2", "test"), ("q3", "test")):
            QueryFamily.objects.filter(queries__qid=qid).update(split=split)
        factories.query_slice(
            benchmark, "mixed", *benchmark.queries.filter(qid__in=["q1", "q2", "q3"])
        )
        factories.query_slice(benchmark, "pure", *benchmark.queries.filter(qid="q2"))
        release = publish(grades, "2.0.0")
        scored(PERFECT, "best", on=release)
        scored("q2 Q0 d5 1 2 s\nq2 Q0 d4 2 1 s", "half", on=release, kind=Run.Kind.BASELINE)
        return release

    return make


@pytest.mark.parametrize("measure", ["nDCG@10", "MRR@10", "Judged@10", "GMAP", "NumRelRet"])
def test_slices_beside_a_split_take_its_queries_alone(split_up, maintainer, measure):
    release = split_up()
    result = any_measure(measure, 1)
    board = board_of(
        release=release, user=maintainer, measure=result, split=board_split(release, "test")
    )

    add_slice_means(board, board.whole)
    slices = heat.heat_slices(board)
    cells = heat.heat_cells(board, board.whole, None, slices)

    assert [(each.part.name, each.part.n) for each in slices] == [("mixed", 2), ("pure", 1)]
    for row, (mixed, pure) in zip(board.whole, cells, strict=True):
        for cell, qids in ((mixed, {"q2", "q3"}), (pure, {"q2"})):
            evaluation = measuring.evaluated(row.score_set, [result.name], only=qids)
            assert cell.mean == pytest.approx(evaluation.means[result.name])


def test_slices_of_a_hidden_split_are_not_cut_for_who_keeps_no_grades(
    split_up, signed_in, vi, maintainer, monkeypatch
):
    split_up()
    for module in ("scoring.boards.services.heat", "scoring.scores.services.firewall"):
        monkeypatch.setattr(f"{module}.hidden_queries", lambda release: frozenset({"q2", "q3"}))

    def names(person) -> list[str]:
        answer = signed_in(person).get(f"{SLICED}?split=test")
        return [each.part.name for each in answer.context["chooser"].slices]

    # Means over whole slices have rules of their own; the part of one would be a new number.
    assert names(vi) == ["pure"]
    assert names(maintainer) == ["mixed", "pure"]


def test_the_split_stands_in_the_lead_and_is_a_choice(split_up, signed_in, vi):
    split_up()
    Phase.objects.all().delete()
    client = signed_in(vi)

    page = client.get(SLICED).content.decode()

    assert "<strong>2 queries of the split test</strong>" in page
    assert '<option dir="auto" value="test" selected>test (2)</option>' in page
    together = client.get(f"{SLICED}?split=all").content.decode()
    assert "<strong>all 3 queries together: 1 of dev, 2 of test</strong>" in together


def test_history_is_of_the_split_that_the_board_stands_on(split_up, signed_in, vi):
    """By nDCG@10, `best` came first with 1 of dev and 1/2 of test; all together it has 2/3."""
    split_up()
    client = signed_in(vi)
    args = ["stdlib", "2.0.0"]
    page = reverse("scoring:leaderboard-history", args=args)
    chart = reverse("scoring:leaderboard-history-chart", args=[*args, "nDCG@10", "csv"])
    api = "/api/v1/benchmarks/stdlib/releases/2.0.0/leaderboard/history/"

    def values(query: str) -> list[float]:
        answer = client.get(page + query)
        values = [record["value"] for record in client.get(api + query).json()["records"]]
        assert [record.value for record in answer.context["records"]] == values[::-1]
        return values

    assert values("") == values("?split=test") == [0.5]
    assert values("?split=dev") == [1.0]
    assert values("?split=all") == [0.6667]  # shown to four decimals
    assert "0.5" in client.get(chart).content.decode().splitlines()[1]
    assert "over 2 queries of the split test" in client.get(page).content.decode()


# --- the banner ----------------------------------------------------------------------------


def judged(*shares: float) -> None:
    sets = ScoreSet.objects.order_by("pk")
    for score_set, share in zip(sets, shares, strict=True):
        Score.objects.filter(score_set=score_set, measure="Judged@10", slice_name="").update(
            mean=share
        )


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ((0.96, 0.95), None),
        ((0.294, 0.34), "These runs cannot be compared yet. Only 29 to 34 % of the first ten"),
        ((0.96, 0.5), "1 of 2 runs cannot be compared with the others. Only 50 %"),
        ((0.94, 0.5), "1 of 2 runs cannot be compared with the others. Only 50 %"),
        ((0.948, 0.99), "Ranks may still move. Only 94 % of the first ten documents of 1 of 2"),
        ((0.7999, 0.99), "1 of 2 runs cannot be compared with the others. Only 79 %"),
    ],
)
def test_one_banner_says_what_keeps_runs_from_being_compared(
    scored, signed_in, vi, shares, expected
):
    scored(PERFECT, "a")
    scored(HALF, "b")
    judged(*shares)

    page = signed_in(vi).get(URL).content.decode()

    text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert page.count("board-judged") == (expected is not None)
    assert expected is None or expected in text


def test_banner_offers_what_would_change_it_to_whom_it_may_concern(
    scored, signed_in, vi, maintainer
):
    run = scored(PERFECT, "a").run
    judged(0.3)
    top_up = f"{reverse('scoring:top-up-new', args=['stdlib'])}?release=1.0.0&amp;runs={run.pk}"

    seen, kept = (signed_in(who).get(URL).content.decode() for who in (vi, maintainer))

    assert top_up in kept
    assert top_up not in seen
    for page in (seen, kept):
        assert ">See what they could change</a>" in page
        assert "Rank by bpref, which leaves unjudged documents out</a>" in page
    assert signed_in(maintainer).get(top_up.replace("&amp;", "&")).status_code == 200


@pytest.mark.parametrize("measure", ["bpref", "Judged@10", "nDCG(judged_only=True)@10"])
def test_a_measure_that_leaves_unjudged_documents_out_needs_no_banner(scored, release, vi, measure):
    scored(PERFECT, "a")
    judged(0.3)

    assert judged_shares(board_of(release=release, user=vi)) is not None
    board = board_of(release=release, user=vi, measure=any_measure(measure, 1))
    assert judged_shares(board) is None


# --- the tray ------------------------------------------------------------------------------


def test_ticked_runs_are_compared_with_the_one_that_was_chosen(scored, signed_in, vi):
    one, two, other = (scored(PERFECT).run.pk for _ in range(3))
    url = reverse("scoring:leaderboard-compare", args=["stdlib"])
    client = signed_in(vi)

    def asked(query: str) -> dict:
        return parse_qs(urlsplit(client.get(f"{url}?release=1.0.0&{query}").url).query)

    pair = {"runs": [f"{one},{two}"], "release": ["1.0.0"]}
    assert asked(f"run={one}&run={two}&baseline={two}") == {**pair, "baseline": [str(two)]}
    assert asked(f"run={one}&run={two}&baseline={other}") == pair
    assert asked(f"run={one}&run={two}&baseline=") == pair


def test_search_is_the_browsers_only_where_every_run_is_there(scored, signed_in, vi):
    scored(PERFECT, "a")
    client = signed_in(vi)

    assert "data-has-all" in client.get(URL).content.decode()
    assert "data-has-all" not in client.get(f"{URL}?q=a").content.decode()


# --- a thousand runs -----------------------------------------------------------------------

N_RUNS = 1000


@pytest.fixture
def thousand(release, sam):
    """A thousand scored runs with long names, all measures and intervals, and no files."""
    runs = Run.objects.bulk_create(
        Run(
            benchmark=release.benchmark,
            name=f"run {n:04} {'x' * 100}",
            owner=sam,
            kind="submitted",
            sha256=f"{n:064}",
            parquet="none",
            n_rows=1,
            n_queries=3,
            depth=10,
        )
        for n in range(N_RUNS)
    )
    sets = ScoreSet.objects.bulk_create(
        ScoreSet(
            run=run,
            release=release,
            scorer_version=SCORER_VERSION,
            n_queries=3,
            n_missing=1,
            n_extra=0,
        )
        for run in runs
    )
    Score.objects.bulk_create(
        Score(
            score_set=score_set,
            measure=name,
            slice_name="",
            n=3,
            mean=place / N_RUNS,
            ci_low=place / N_RUNS - 0.05,
            ci_high=place / N_RUNS + 0.05,
        )
        for place, score_set in enumerate(sets)
        for name in ("nDCG@10", "RR@10", "R@100", "Judged@10")
    )
    return release


def test_the_first_answer_of_a_thousand_runs_is_light(thousand, signed_in, sam):
    answer = signed_in(sam).get(URL)

    assert answer.context["page"].paginator.count == N_RUNS
    assert len(answer.content) < 150_000
    assert f"1{DASH}50 of 1,000" in answer.content.decode()
    assert answer.context["table"].lines[0].rank == "1"


def test_the_page_asks_as_often_for_many_slices_and_runs_as_for_few(
    sliced, scored, signed_in, vi, monkeypatch
):
    monkeypatch.setattr(keeping, "find", lambda key: None)
    client, counts = signed_in(vi), []
    for size in (0, 15):
        for _ in range(size):
            scored(HALF, on=sliced)
        client.get(SLICED)
        with CaptureQueriesContext(connection) as captured:
            assert len(client.get(SLICED).context["table"].lines) == 2 + size
        counts.append(len(captured))

    assert counts[0] == counts[1]
