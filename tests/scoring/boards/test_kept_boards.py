"""Boards that are kept: as new as one that is made anew, after every change and for everybody."""

import gzip
import itertools
import re
import threading
from collections.abc import Callable
from contextlib import contextmanager
from datetime import timedelta

import pytest
import zstandard
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.http import HttpResponse, StreamingHttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.changes import TABLE, WATCHED, state_of
from benchmarks_app.models import Benchmark, Job, Membership, Run, Team, User
from benchmarks_app.releases.services.releasing import deprecate_release
from scoring.boards import keeping
from scoring.boards.selectors.audiences import EVERYBODY, audience_of
from scoring.models import LadderStep, Phase, Score, ScoreSet, Submission
from scoring.scores.services.ranking import JOB_KIND
from tests import factories
from tests.tokens import text_without_tokens

PERFECT = "q1 Q0 d1 1 3 s\nq1 Q0 d2 2 2 s\nq2 Q0 d4 1 1 s\nq3 Q0 d6 1 1 s"
HALF = "q1 Q0 d1 1 3 s\nq1 Q0 d2 2 2 s"
BOARD = "/b/stdlib/v/1.0.0/leaderboard/"
PAGES = (
    BOARD,
    "/b/stdlib/leaderboard/",
    f"{BOARD}slices/",
    f"{BOARD}history/",
    f"{BOARD}top/",
    f"{BOARD}slices.csv",
    BOARD.removesuffix("/") + ".csv",
    BOARD.removesuffix("/") + ".json",
    BOARD.removesuffix("/") + ".md",
    "/api/v1/benchmarks/stdlib/releases/1.0.0/leaderboard/",
    "/api/v1/benchmarks/stdlib/releases/1.0.0/leaderboard/?limit=1",
)


@pytest.fixture
def public(benchmark) -> Benchmark:
    Benchmark.objects.filter(pk=benchmark.pk).update(visibility="public")
    benchmark.refresh_from_db()
    return benchmark


@pytest.fixture
def board(public, scored, sam) -> list[Run]:
    """Two runs of which one is somebody's submission."""
    mine = scored(HALF, "of sam", owner=sam, kind=Run.Kind.SUBMITTED).run
    return [scored(PERFECT, "perfect").run, mine]


def client_of(person: User | None) -> Client:
    client = Client()
    if person is not None:
        client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    return client


def body(client: Client, page: str) -> tuple[int, str]:
    answer = client.get(page)
    return answer.status_code, text_without_tokens(answer)


@contextmanager
def nothing_kept():
    """Boards are made anew, whatever is kept, and not kept."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(keeping, "find", lambda key: None)
        patched.setattr(keeping, "keep", lambda key, kept: None)
        yield


def test_every_reader_sees_what_is_there_after_every_change(
    board, public, release, phase, owner, sam, vi, cy, scored
):
    """What is kept says, byte by byte, what a board says that is made anew: nothing is stale, and
    nothing of one reader's is shown to another."""
    perfect, mine = board
    people = {"nobody": None, "owner": owner, "sam": sam, "vi": vi, "cy": cy}
    readers = {name: client_of(person) for name, person in people.items()}

    def seen(names, pages) -> dict:
        return {(name, page): body(readers[name], page) for name in names for page in pages}

    def check(what: str, *asked) -> None:
        with nothing_kept():
            wanted = seen(*asked)
        for time in ("made", "again"):
            result = seen(*asked)
            wrong = [key for key in wanted if result[key] != wanted[key]]
            assert not wrong, f"{what}, {time}: {wrong}"

    team = Team.objects.create(name="the team")
    of_mine, now = Run.objects.filter(pk=mine.pk), timezone.now()
    changes: list[tuple[str, Callable[[], object]]] = [
        ("nothing", lambda: None),
        ("a run comes", lambda: factories.run(public, HALF, "unscored")),
        ("a run is scored", lambda: scored(PERFECT, "another")),
        ("a run is called otherwise", lambda: of_mine.update(name="<new>")),
        ("a note", lambda: of_mine.update(metadata={"type": "dense"})),
        ("a run is private", lambda: of_mine.update(visibility="owner")),
        ("… of a team", lambda: of_mine.update(visibility="team", team=team)),
        ("who is a member of it", lambda: team.members.add(cy)),
        ("what it is called", lambda: Team.objects.filter(pk=team.pk).update(name="others")),
        ("who is no member any more", lambda: team.members.remove(cy)),
        ("a run is public", lambda: of_mine.update(visibility="benchmark")),
        ("a name", lambda: User.objects.filter(pk=sam.pk).update(first_name="Samuel")),
        ("a role", lambda: Membership.objects.filter(user=vi).update(role="maintainer")),
        ("no role", lambda: Membership.objects.filter(user=vi).delete()),
        ("a failure", lambda: phase.submissions.create(name="f", submitter=sam, state="failed")),
        ("its end", lambda: Submission.objects.filter(name="f").update(withdrawn_at=now)),
        ("a mean", lambda: Score.objects.filter(score_set__run=mine).update(mean=0.123)),
        ("a measure", lambda: Score.objects.filter(measure="nDCG@10").first().delete()),
        ("a run is withdrawn", lambda: of_mine.update(withdrawn_at=now)),
        ("a phase", lambda: Phase.objects.filter(pk=phase.pk).update(split="dev")),
        ("a release is deprecated", lambda: deprecate(release, owner)),
        ("a benchmark's name", lambda: Benchmark.objects.update(name="Otherwise")),
        ("it is not public", lambda: Benchmark.objects.update(visibility="members")),
        ("it is public again", lambda: Benchmark.objects.update(visibility="public")),
        ("scores are gone", lambda: ScoreSet.objects.filter(run=perfect).delete()),
    ]  # fmt: skip
    check("all of it", readers, PAGES)
    some = itertools.cycle([name for name in readers if name != "nobody"])
    for what, change in changes:
        change()
        check(what, ("nobody", next(some)), (BOARD,))
    check("all of it", readers, PAGES)


def deprecate(release, owner) -> None:
    deprecate_release(release=release, user=owner, reason="Grades were wrong.")


# --- who shares a board --------------------------------------------------------------------


def audience(person: User, benchmark: Benchmark) -> str | None:
    return audience_of(User.objects.get(pk=person.pk), benchmark).name


def test_a_board_is_shared_by_role_whoever_has_a_run_on_it(
    board, public, phase, sam, vi, cy, owner
):
    phase.submissions.create(name="sent", submitter=vi)

    assert audience_of(AnonymousUser(), public).name == EVERYBODY
    assert [audience(person, public) for person in (sam, vi, cy, owner)] == [
        "as submitter",
        "as viewer",
        "as guest",
        "as owner",
    ]


@pytest.mark.parametrize("whose", ["sam", "team"])
@pytest.mark.parametrize(
    "change",
    [
        {"visibility": "owner"},
        {"visibility": "team"},
        {"visibility": "owner", "withdrawn_at": timezone.now()},
        {"anonymous_until": timezone.now() + timedelta(days=1)},
        {"anonymous_until": timezone.now() + timedelta(days=1), "withdrawn_at": timezone.now()},
    ],
)
def test_whose_run_is_told_to_them_alone_shares_a_board_with_nobody(
    board, public, sam, cy, whose, change
):
    run, reader = Run.objects.filter(name="of sam"), sam
    if whose == "team":
        team, reader = Team.objects.create(name="the team"), cy
        run.update(team=team)
        team.members.add(cy)
    assert audience(reader, public) is not None

    run.update(**change)

    assert audience(reader, public) is None


def test_a_step_of_the_ladder_and_a_failure_are_told_to_their_sender_alone(
    board, public, phase, sam, vi
):
    failed = phase.submissions.create(name="f", submitter=vi, state="failed")
    mine = ScoreSet.objects.get(run__name="of sam")
    LadderStep.objects.create(score_set=mine, measure="MAP", source=mine)

    assert audience(vi, public) is audience(sam, public) is None

    Submission.objects.filter(pk=failed.pk).update(withdrawn_at=timezone.now())
    assert audience(vi, public) == "as viewer"


def test_a_reader_with_runs_is_shown_the_kept_board_and_which_are_theirs(
    board, public, sam, scored, monkeypatch
):
    other = factories.member(public, "other", "submitter")
    scored(PERFECT, "of <other>", owner=other, kind=Run.Kind.SUBMITTED)
    Run.objects.filter(name="of <other>").update(pooled_depth=5)  # has a mark beside
    assert b"is-mine" in client_of(sam).get(BOARD).content
    monkeypatch.setattr("scoring.boards.views.boards.board_of", None)

    rows = {
        name: re.findall(r'<tr(?: class="(.*?)")?><td class="is-pick">.*?</tr>', page)
        for name, page in (
            (person.username, client_of(person).get(BOARD).content.decode())
            for person in (sam, other)
        )
    }

    assert rows == {"sam": ["", "", "is-mine"], "other": ["is-mine", "", ""]}
    page = client_of(other).get(BOARD).content.decode()
    row = next(row for row in page.split("<tr") if "of &lt;other&gt;</a>" in row)
    marks = re.findall(r'<svg class="mark is-(\w+)" role="img"><title>(.*?)</title>', row)
    assert marks == [("mine", "yours"), ("pooled", "pooled to 5")]
    assert row.count('<span class="badges">') == 1


def test_what_was_made_while_somebody_came_to_be_alone_is_not_kept(
    board, public, sam, vi, monkeypatch
):
    """A private run that comes after it was asked who reads stands on the page that is made."""
    from scoring.boards.views import boards

    kept, really = [], boards.board_of
    monkeypatch.setattr(keeping, "keep", lambda key, board: kept.append(board))

    def board_of(**of):
        Run.objects.filter(name="of sam").update(owner=vi, visibility="owner")
        return really(**of)

    monkeypatch.setattr(boards, "board_of", board_of)
    page = client_of(vi).get(BOARD).content

    assert b"of sam" in page
    assert kept == []


def test_what_is_kept_names_no_reader_and_has_no_token(board, vi, owner, cy, monkeypatch):
    kept, really = [], keeping.keep
    monkeypatch.setattr(
        keeping, "keep", lambda key, board: (kept.append(board), really(key, board))
    )
    for person in (None, vi, owner, cy):
        for page in PAGES:
            client_of(person).get(page)

    assert len(kept) >= len(PAGES)
    for each in kept:
        assert b"csrf" not in each.content.lower()
        assert b"is-mine" not in each.content
        for name in (vi.username, cy.username):
            assert f">{name}<".encode() not in each.content


@pytest.mark.parametrize(
    ("answer", "is_kept"),
    [
        (HttpResponse("a"), True),
        (HttpResponse("a", status=404), False),
        (HttpResponse('<input name="csrfmiddlewaretoken">'), False),
        (HttpResponse("a", headers={"Content-Encoding": "gzip"}), False),
        (StreamingHttpResponse(["a"]), False),
    ],
)
def test_an_answer_with_a_token_or_of_no_page_is_not_kept(public, rf, monkeypatch, answer, is_kept):
    kept: list[keeping.Kept] = []
    monkeypatch.setattr(keeping, "keep", lambda key, board: kept.append(board))

    keeping.kept_for_everybody(lambda request, slug: answer)(rf.get(BOARD), public.slug)

    assert bool(kept) == is_kept


def test_an_answer_that_sets_a_cookie_is_not_kept(public, rf, monkeypatch):
    monkeypatch.setattr(keeping, "keep", None)
    answer = HttpResponse("a")
    answer.set_cookie("a", "b")

    view = keeping.kept_for_everybody(lambda request, slug: answer)

    assert view(rf.get(BOARD), public.slug) is answer


# --- what is asked -------------------------------------------------------------------------


def test_who_has_the_board_costs_one_query_and_no_rendering(board, client, monkeypatch):
    first = client.get(BOARD)
    monkeypatch.setattr("scoring.boards.views.boards.board_of", None)
    with CaptureQueriesContext(connection) as captured:
        again = client.get(BOARD, headers={"If-None-Match": first["ETag"]})

    assert (again.status_code, again.content) == (304, b"")
    assert len(captured) == 1
    assert again["ETag"] == first["ETag"]
    for answer in (first, again):
        assert answer["Cache-Control"] == "private, no-cache"
        assert {"Cookie", "Accept-Encoding", "Accept-Language"} <= set(answer["Vary"].split(", "))
    Run.objects.filter(name="perfect").update(name="another name")
    monkeypatch.undo()
    changed = client.get(BOARD, headers={"If-None-Match": first["ETag"]})
    assert changed.status_code == 200
    assert changed["ETag"] != first["ETag"]


@pytest.mark.parametrize("page", [page for page in PAGES if page.endswith(("csv", "json", "md"))])
def test_who_is_signed_in_gets_a_file_that_was_made_for_another(
    board, public, vi, page, monkeypatch
):
    other = client_of(factories.member(public, "val", "viewer"))
    record = client_of(vi).get(page)
    for views in ("boards", "charts", "files"):
        monkeypatch.setattr(f"scoring.boards.views.{views}.release_or_404", None, raising=False)

    kept = other.get(page)

    assert (kept.status_code, kept.content) == (200, record.content)
    assert kept["Content-Disposition"] == record["Content-Disposition"]
    assert kept["Cache-Control"] == "private, no-store"  # on a computer that others use as well


def test_a_large_answer_is_compressed_quickly(monkeypatch):
    levels = []
    monkeypatch.setattr(
        keeping.gzip, "compress", lambda content, level, mtime: levels.append(level) or b""
    )
    for size in (keeping.LARGE, keeping.LARGE + 1):
        kept = keeping.Kept.of(b"a" * size, {}, timezone.now())
        assert zstandard.decompress(kept.by_zstd) == b"a" * size

    assert levels == [6, 1]


def test_a_reader_who_is_signed_in_gets_the_inside_of_the_page_without_reading_the_board(
    board, vi, monkeypatch
):
    client = client_of(vi)
    first = client.get(BOARD)
    monkeypatch.setattr("scoring.boards.views.boards.board_of", None)
    with CaptureQueriesContext(connection) as captured:
        again = client.get(BOARD)

    # Session, person, benchmark with role, state and audience, own runs, release, flagged families.
    assert len(captured) == 7
    assert text_without_tokens(again) == text_without_tokens(first)
    assert first.content != again.content  # each has a token of its own
    assert not again.has_header("ETag")
    assert again["Cache-Control"] == "private, no-store"


@pytest.mark.parametrize(
    ("accepted", "encoding", "unpack"),
    [
        ("gzip, deflate, br, zstd", "zstd", lambda data: zstandard.decompress(data)),
        ("gzip", "gzip", gzip.decompress),
        ("br", "", lambda data: data),
    ],
)
def test_a_board_goes_compressed_as_the_asker_takes_it(board, client, accepted, encoding, unpack):
    plain = client.get(BOARD)
    answer = client.get(BOARD, headers={"Accept-Encoding": accepted})

    assert answer.get("Content-Encoding", "") == encoding
    assert unpack(answer.content) == plain.content
    assert int(answer["Content-Length"]) == len(answer.content)
    assert answer["ETag"] == plain["ETag"]


def test_a_first_page_has_its_styles_inside_and_no_tag(board, client):
    """Its policy names them: it must not be taken for that of the next page, by a 304."""
    first = client.get(BOARD, headers={"Sec-Fetch-Dest": "document"})
    assert b"<style>" in first.content
    assert not first.has_header("ETag")
    assert first["Cache-Control"] == "private, no-store"

    again = client.get(BOARD, headers={"Sec-Fetch-Dest": "document"})
    assert b"<style>" not in again.content
    assert again.has_header("ETag")


@pytest.mark.parametrize(
    "other",
    [
        {"headers": {"Accept-Language": "de"}},
        {"headers": {"Cookie": "theme=dark"}},
        {"headers": {"Host": "127.0.0.1"}},
        {"headers": {"X-Forwarded-Proto": "https"}, "secure": True},
        {"QUERY_STRING": "q=perfect"},
    ],
)
def test_what_a_page_depends_on_is_in_its_key(board, client, other, settings):
    settings.ALLOWED_HOSTS = ["testserver", "127.0.0.1"]
    plain = client.get(BOARD)
    kept = [client.get(BOARD, **other).content for _ in range(2)]
    with nothing_kept():
        wanted = client.get(BOARD, **other).content

    assert kept == [wanted, wanted]
    assert wanted != plain.content


@pytest.mark.parametrize("moment", ["public_from", "anonymous_until"])
def test_a_board_changes_when_its_time_has_come(board, client, cy, moment, monkeypatch):
    later = timezone.now() + timedelta(hours=2)
    hides = {"visibility": "owner"} if moment == "public_from" else {}
    Run.objects.filter(name="of sam").update(**{moment: later}, **hides)
    readers = (client, client_of(cy))
    before = [body(reader, BOARD) for reader in readers]

    really = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: really() + timedelta(hours=3))
    after = [body(reader, BOARD) for reader in readers]

    with nothing_kept():
        assert after == [body(reader, BOARD) for reader in readers]
    assert after[0] != before[0]


# --- what is watched -----------------------------------------------------------------------

# Read on the way to a board, and shown by none; or asked anew each time, of who reads.
NOT_SHOWN = {
    "benchmarks_app_corpus": "comes along with a benchmark",
    "benchmarks_app_corpusversion": "comes along with a release, which pins it",
    "benchmarks_app_qrelset": "comes along with a release, which pins it",
    "benchmarks_app_membership": "a role is part of a key",
    "benchmarks_app_team_members": "of whom a run is told to its team alone, is part of a key",
    "annotation_pool": "whether somebody may see results is asked before",
    "scoring_caseset": "whether somebody may see results is asked before",
    "django_session": "who reads",
    TABLE: "names the state",
}
TABLES = re.compile(r'(?:FROM|JOIN) "?(\w+)"?')


def test_every_table_that_boards_read_is_watched(board, public, phase, vi, owner, monkeypatch):
    watched = {watch.table for of_app in WATCHED.values() for watch in of_app}
    phase.submissions.create(name="f", submitter=vi, state="failed")
    with nothing_kept():
        for person in (None, vi, owner):
            client = client_of(person)
            for page in PAGES:
                with CaptureQueriesContext(connection) as captured:
                    client.get(page)
                read = {table for query in captured for table in TABLES.findall(query["sql"])}
                if person is not None:  # the menu around a board is made anew
                    read = {table for table in read if table.startswith(("benchmarks", "scoring"))}
                    read -= {"scoring_probingflag"}
                assert read - watched - NOT_SHOWN.keys() == set(), (person, page)


def test_ranks_of_a_large_board_are_watched_by_the_kind_of_their_job(public):
    (jobs,) = (watch for watch in WATCHED["benchmarks_app"] if watch.table == Job._meta.db_table)
    assert f"'{JOB_KIND}'" in jobs.condition
    before = state_of(public.pk)
    job = Job.objects.create(kind=JOB_KIND, title="ranks", benchmark=public)
    assert state_of(public.pk) == before
    Job.objects.filter(pk=job.pk).update(state="done", result={"facts": {}})
    assert state_of(public.pk) != before


def test_what_boards_do_not_show_changes_no_state(board, public, phase, sam):
    submission = phase.submissions.create(name="s", submitter=sam)
    before = state_of(public.pk)

    User.objects.filter(pk=sam.pk).update(last_login=timezone.now())
    ScoreSet.objects.update(looked_at=timezone.now())
    for state in ("validated", "queued", "scoring"):
        Submission.objects.filter(pk=submission.pk).update(state=state)
    Run.objects.filter(name="no such run").update(name="x")
    Run.objects.update(description="")  # as it was

    assert state_of(public.pk) == before
    Submission.objects.filter(pk=submission.pk).update(state="failed")
    assert state_of(public.pk) != before


def test_a_step_of_the_ladder_changes_the_state(board, public):
    scored, other = ScoreSet.objects.all()[:2]
    before = state_of(public.pk)
    LadderStep.objects.create(score_set=scored, measure="MAP", source=other)
    assert state_of(public.pk) != before


# --- the store -----------------------------------------------------------------------------


def made(content: bytes, hours: float = 1) -> keeping.Kept:
    return keeping.Kept.of(content, {}, timezone.now() + timedelta(hours=hours))


def test_what_is_kept_is_read_by_other_processes():
    from django.core.cache import cache

    key = "a" * 64
    keeping.keep(key, made(b"board"))
    cache.clear()  # as in another process
    assert keeping.find(key).content == b"board"
    assert keeping.find("b" * 64) is None


def test_what_is_too_large_is_not_kept_and_many_push_others_out(monkeypatch):
    from django.core.cache import cache

    monkeypatch.setattr(keeping, "MOST_BYTES", 100)
    monkeypatch.setattr(keeping, "MOST_KEPT", 10)
    keeping.keep("c" * 64, made(bytes(range(256)) * 2))
    assert keeping.find("c" * 64) is None
    for number in range(40):
        keeping.keep(f"{number:064}", made(b"x"))
    cache.clear()
    n_there = sum(keeping.find(f"{number:064}") is not None for number in range(40))
    assert 1 <= n_there <= 10


def test_what_holds_no_more_is_not_shown():
    keeping.keep("d" * 64, made(b"x", hours=-0.001))
    assert keeping.find("d" * 64) is None


def test_of_many_who_ask_at_once_one_makes_the_board():
    n_made, key = [], "e" * 64
    start = threading.Barrier(6)

    def ask() -> None:
        start.wait()
        with keeping.turn(key):
            if keeping.find(key) is None:
                n_made.append(1)
                keeping.keep(key, made(b"x"))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert n_made == [1]


def test_nobody_waits_for_ever(monkeypatch):
    monkeypatch.setattr(keeping, "LONGEST_WAIT_SECONDS", 0.05)
    with keeping.turn("f" * 64), keeping.turn("f" * 64):
        pass  # the second goes on without its turn


def test_an_endless_address_is_answered_and_not_kept(board, client, monkeypatch):
    monkeypatch.setattr(keeping, "keep", None)
    assert client.get(f"{BOARD}?q={'a' * 1_200}").status_code in (200, 422)


def test_addresses_are_those_of_boards():
    assert reverse("scoring:leaderboard-release", args=["stdlib", "1.0.0"]) == BOARD
