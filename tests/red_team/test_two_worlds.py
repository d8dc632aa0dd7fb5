"""Two worlds that differ in hidden grades alone look the same to whoever is no keeper.

A whole benchmark is built twice, with time and chance frozen, and every address is opened as each
role in both. Means of the declared measures may be told as far as they are rounded; the changes
are small enough to leave these as they are, so there is nothing else that may differ: no byte of a
body, no header.
"""

import gzip
import io
import json
import random
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from django.core import mail
from django.core.cache import caches
from django.core.management.color import no_style
from django.db import connection, transaction
from django.test import override_settings
from django.urls import reverse

from annotation.models import Judgment
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, Notice, Qrel, QueryFamily, User
from benchmarks_app.models.notices import Event
from benchmarks_app.notices.services.mailing import choose_mails
from benchmarks_app.notices.services.sending import body_of, send_due
from benchmarks_app.slices.services.changes import register_slice
from benchwright.linting.sources import Look
from benchwright.reading.choosing import extension
from benchwright.releases.options import ReleaseOptions
from scoring.gates.services.gating import start_gate
from scoring.gates.services.policies import make_policy
from scoring.gates.services.rehearsing import start_rehearsal
from scoring.models import Comparison
from tests import factories
from tests import world as worlds
from tests.test_hidden_walk import HIDDEN, told, urls_of
from tests.world import World

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.slow,
    pytest.mark.in_thirds(whole=True),
    pytest.mark.xdist_group("two-worlds"),
]

NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
# Where each person looks: a viewer sees what anonymous and Sam see, Tess, who submits for another
# team, comes to Sam's own things, and the owner to where there is something to see.
EVERYWHERE = ("",)
RESULTS = ("/runs/", "/gates/", "/comparisons/", "/compare/")
PLACES = {
    **dict.fromkeys(("anonymous", "ada", "sam"), EVERYWHERE),
    **dict.fromkeys(("vi", "tess", "olga"), RESULTS),
}
OTHERS = [who for who in PLACES if who != "olga"]
# Beside pages: what leaves the site by itself, as bodies of webhooks and as mails.
SENT = ("webhooks", "mails")
QUERIES = [HIDDEN, *(f"q-hidden-{number:02}" for number in range(2, 31))]
# The one has grades in one world, the other in the other. Runs find documents of grade 0 there; the
# first run answers the one alone.
GRADED_ONCE = ["q-hidden-31", "q-hidden-32"]
DECLARED = ["nDCG@10", "RR@10"]
RUNS = ("first", "second")
# Or the pace of the test would be compared, too.
PACES = dict.fromkeys(
    (f"API_{what}_PER_MINUTE" for what in ("REQUESTS", "ANONYMOUS", "COMPUTATIONS")), 10_000
)
GOOD = [f"d-good-{number}" for number in range(12)]
FILLING = [f"d-x{number}" for number in range(7)]

# Grades of a query in one world and in the other, by document. Of the retrieved ones a pair at the
# ranks 9 and 10 is swapped, others lie below what the declared measures look at.
CHANGED = {
    "d-nine": (3, 0),
    "d-ten": (0, 3),
    "d-below": (0, 1),
    "d-deep": (2, 0),
    "d-unretrieved": (0, 1),
}


def grades_of(qid: str, world: int) -> dict[str, int]:
    """Most queries are the same in both worlds: a mean must not move by what is shown of it."""
    of = world if qid in QUERIES[:2] else 0
    return {
        **dict.fromkeys(FILLING, 0),
        **dict.fromkeys(GOOD, 3),
        **{doc: grades[of] for doc, grades in CHANGED.items()},
    }


def lines_of(qid: str, is_swapped: bool) -> str:
    """A run's list: its 9th and 10th document are the other way round in a single query."""
    nine = ["d-ten", "d-nine"] if is_swapped else ["d-nine", "d-ten"]
    docids = [GOOD[0], *FILLING, *nine, "d-below", "d-deep"]
    return "".join(
        f"{qid} Q0 {docid} {rank} {50 - rank} s\n" for rank, docid in enumerate(docids, 1)
    )


def run_lines(swapped: str = "") -> str:
    """The second run, which has the swapped query, answers every one."""
    answered = GRADED_ONCE if swapped else GRADED_ONCE[:1]
    others = "".join(f"{qid} Q0 {FILLING[0]} 1 1 s\n" for qid in answered)
    return "".join(lines_of(qid, qid == swapped) for qid in QUERIES) + others


def corpus_with(docids: list[str]) -> bytes:
    """`fixtures/tiny_benchmark` with these documents among its own."""
    written = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(factories.tiny_zip())) as tiny,
        zipfile.ZipFile(written, "w") as archive,
    ):
        for name in tiny.namelist():
            content = tiny.read(name)
            if name.endswith("corpus.jsonl"):
                rows = ({"_id": docid, "title": "", "text": f"says {docid}"} for docid in docids)
                content += "".join(f"{json.dumps(row)}\n" for row in rows).encode()
            archive.writestr(name, content)
    return written.getvalue()


def hide(benchmark: Benchmark, *, world: int) -> None:
    """A public benchmark with all its queries in dev, and 30 in test, which is hidden."""
    benchmark.visibility = Benchmark.Visibility.PUBLIC
    benchmark.hidden_splits = ["test"]
    benchmark.save()
    QueryFamily.objects.filter(benchmark=benchmark).update(split="dev")
    qrels = benchmark.qrel_sets.get()
    keeper = factories.user("keeper")
    rows: list[Qrel] = []
    hidden = []
    for qid in QUERIES + GRADED_ONCE:
        family = QueryFamily.objects.create(benchmark=benchmark, split="test")
        query = factories.query(benchmark, qid, text=f"how is {qid} hidden", family=family)
        hidden.append(query)
        if qid in GRADED_ONCE and qid != GRADED_ONCE[world]:
            continue
        grades = grades_of(qid, world)
        rows += [Qrel(qrel_set=qrels, query=query, docid=d, grade=g) for d, g in grades.items()]
        Judgment.objects.create(
            benchmark=benchmark,
            query=query,
            docid="d-nine",
            kind=Judgment.Kind.IMPORT,
            grade=grades["d-nine"],
            actor=keeper,
            rater="w9",
            client_id=uuid4(),
        )
    Qrel.objects.bulk_create(rows)
    n_relevant = qrels.qrels.filter(grade__gt=0).count()
    type(qrels).objects.filter(pk=qrels.pk).update(n_relevant=n_relevant)
    register_slice(of=factories.query_slice(benchmark, "hidden", *hidden), actor=keeper)
    factories.query_slice(benchmark, "single", hidden[-1])


# --- a world, frozen -----------------------------------------------------------------------------


class Frozen(datetime):
    @classmethod
    def now(cls, tz: Any = None) -> datetime:
        return NOW if tz else NOW.replace(tzinfo=None)


class Chance:
    """What takes the place of the system's randomness: the same bytes after the same `seed`."""

    def __init__(self) -> None:
        self.seed("")

    def seed(self, text: str) -> None:
        self.generator = random.Random(text)

    def __call__(self, n: int) -> bytes:
        return self.generator.randbytes(n)


@contextmanager
def frozen() -> Iterator[Chance]:
    """Neither time nor chance make a difference in here."""
    extension()  # which draws a secret where it is first loaded
    chance = Chance()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("django.utils.timezone.datetime", Frozen)
        patch.setattr("time.time", NOW.timestamp)
        patch.setattr("os.urandom", chance)
        patch.setattr("random._urandom", chance)
        yield chance


def furnish(world: World) -> None:
    """What people ask for: gates, a rehearsal and comparisons, of Sam and of Olga."""
    benchmark, release = world.benchmark, world.benchmark.releases.published().get()
    factories.member(benchmark, "tess", "submitter")
    for who in ("sam", "tess", "vi"):
        person = User.objects.get(username=who)
        person.email = person.verified_email = f"{who}@example.org"
        person.save()
        choose_mails(person=person, events=Event.values)
    world.sessions["tess"] = worlds.session_of(User.objects.get(username="tess"))
    sam, olga = (User.objects.get(username=name) for name in ("sam", "olga"))
    baseline, candidate = (benchmark.runs.get(name=f"stdlib-{name}") for name in RUNS)
    content = {"measure": "nDCG@10", "delta_min": 0.0001, "margin": 0.0001}
    asked = {"benchmark": benchmark, "baseline": baseline, "content": content, "user": sam}
    rehearsal = start_rehearsal(**asked, release=release, name="draft", runs=[candidate])
    policy = make_policy(**asked, name="chosen")
    gates = [
        start_gate(policy=policy, candidate=candidate, release=release, user=user)
        for user in (sam, olga)
    ]
    jobs.run_queued()
    world.arguments |= {
        **{name: gates[0].pk for name in world.arguments if ":gate-" in name},
        **{name: policy.pk for name in world.arguments if "policy-" in name},
        **{name: rehearsal.pk for name in world.arguments if "rehearsal-" in name},
        "gate of olga": gates[1].pk,
    }
    for who in ("sam", "olga"):
        for name in ("comparison", "comparison-robustness"):
            page = reverse(f"scoring:{name}", args=[benchmark.slug])
            assert (
                world.client(who).get(f"{page}?runs={baseline.pk},{candidate.pk}").status_code
                == 200
            )


# What is left of one's own limits, and for how long: of the time, and of no world.
LEFT = re.compile(rb"r=\d+;t=\d+")


def whole_urls(world: World) -> list[str]:
    """Every address, and those of what Olga and Sam have asked for."""
    slug, gate = world.benchmark.slug, world.arguments["gate of olga"]
    one, other = (world.benchmark.runs.get(name=f"stdlib-{name}").pk for name in RUNS)
    results = [
        *(
            f"{reverse(name, args=[slug])}?exact={one}&approximate={other}"
            for name in ("scoring:ann", "api:ann")
        ),
        *(reverse(f"scoring:gate-{name}", args=[slug, gate]) for name in ("detail", "state")),
        *(
            reverse("scoring:gate-report", args=[slug, gate, kind])
            for kind in ("md", "json", "xml")
        ),
        reverse("scoring:gate-chart", args=[slug, gate, "csv"]),
        reverse("api:gate-detail", args=[slug, gate]),
        *(
            reverse(name, args=[slug, run, qid])
            for name in ("scoring:run-query", "api:run-query")
            for run in (one, other)
            for qid in GRADED_ONCE
        ),
        *(
            f"{reverse(name, args=[slug, world.arguments['version']])}?slice=single"
            for name in ("scoring:leaderboard-release", "api:leaderboard-detail")
        ),
    ]
    for row in Comparison.objects.filter(parameters__has_key="measures").order_by("pk"):
        one, other = row.parameters["runs"][:2]
        results.append(reverse("api:comparison-detail", args=[slug, row.key]))
        results += [
            reverse("scoring:comparison-chart", args=[slug, row.key, 0, other, one, name, "csv"])
            for name in ("slices", "differences", "scatter")
        ]
    return [*urls_of(world), *results]


@contextmanager
def built(files: Path, world: int) -> Iterator[World]:
    """One of the two worlds, gone afterwards with the numbers of its rows."""
    folders = {
        "DATA_DIR": files,
        "MEDIA_ROOT": files / "files",
        "STAGING_DIR": files / "staging",
        "PASSWORD_HASHERS": ["django.contrib.auth.hashers.MD5PasswordHasher"],
    }
    for name in ("files", "staging"):
        (files / name).mkdir(parents=True)
    for cache in caches.all():
        cache.clear()
    with (
        override_settings(**folders, **PACES),
        pytest.MonkeyPatch.context() as patch,
        transaction.atomic(),
    ):
        patch.setattr(Look, "look_at_documents", lambda look: None)  # they miss the planted ones
        patch.setattr(worlds, "RUN", worlds.RUN + run_lines())
        patch.setattr(worlds, "OTHER_RUN", worlds.OTHER_RUN + run_lines(swapped=HIDDEN))
        patch.setattr("benchmarks_app.jobs.services.jobs.send", lambda job: None)
        corpus = corpus_with([*GOOD, *FILLING, *CHANGED])
        patch.setattr(factories, "tiny_zip", lambda: corpus)
        options = ReleaseOptions(measures=DECLARED)
        patch.setattr(factories, "release", partial(factories.release, options=options))
        patch.setattr(factories, "_numbers", count(1))
        built_pool = worlds.build(files=files, prepared=partial(hide, world=world))
        furnish(built_pool)
        yield built_pool
        transaction.set_rollback(True)
    reset = connection.ops.sequence_reset_sql(no_style(), apps.get_models())
    with connection.cursor() as cursor:
        for statement in reset:
            cursor.execute(statement)


@dataclass(frozen=True)
class Views:
    """What each person is answered at each address, packed."""

    of: dict[tuple[str, str], bytes]

    def at(self, who: str, url: str) -> bytes:
        return gzip.decompress(self.of[who, url])


def views(world: World, chance: Chance) -> Views:
    results = {}
    for who, places in PLACES.items():
        client = world.client(who)
        for url in whole_urls(world):
            if not any(place in url for place in places):
                continue
            chance.seed(url)
            with transaction.atomic():
                answer = client.get(url)
                whole = f"{answer.status_code}\n".encode() + LEFT.sub(b"", told(answer))
                results[who, url] = gzip.compress(whole, 1)
                transaction.set_rollback(True)
    chance.seed("notices")
    bodies = [body_of(notice) for notice in Notice.objects.order_by("pk")]
    mail.outbox.clear()
    while send_due():
        pass
    mails = [message.message().as_bytes() for message in mail.outbox]
    for kind, sent in zip(SENT, (bodies, mails), strict=True):
        results[kind, "sent"] = gzip.compress(f"{len(sent)}\n".encode() + b"\n".join(sent), 1)
    return Views(results)


@pytest.fixture(scope="module")
def both(django_db_setup, django_db_blocker, tmp_path_factory) -> list[Views]:
    files = tmp_path_factory.mktemp("two-worlds")
    results = []
    for number in (0, 1):
        with (
            django_db_blocker.unblock(),
            frozen() as chance,
            built(files / str(number), number) as world,
        ):
            results.append(views(world, chance))
    return results


def difference(one: bytes, other: bytes) -> str:
    """Where two answers part, for the message of a test."""
    at = next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
    return f"{one[max(at - 60, 0) : at + 40]!r} is {other[max(at - 60, 0) : at + 40]!r}"


def differing(both: list[Views], who: str) -> dict[str, str]:
    """Addresses that answer a person differently in the two worlds."""
    urls = {url for name, url in both[0].of if name == who}
    assert urls == {url for name, url in both[1].of if name == who}
    results = {}
    for url in sorted(urls):
        one, other = (of.at(who, url) for of in both)
        if one != other:
            results[url] = difference(one, other)
    return results


@pytest.mark.parametrize("who", [*OTHERS, *SENT])
def test_nobody_but_keepers_sees_a_difference(both, who):
    assert differing(both, who) == {}


@pytest.mark.parametrize(("who", "n"), [("anonymous", 100), ("vi", 50), ("sam", 150)])
def test_there_is_something_to_see(both, who, n):
    answers = [both[0].at(who, url) for name, url in both[0].of if name == who]

    assert sum(answer.startswith(b"200\n") for answer in answers) > n


def test_webhooks_and_mails_are_sent_at_all(both):
    bodies, mails = (both[0].at(kind, "sent") for kind in SENT)

    assert int(bodies.split(b"\n")[0]) > 1
    assert b"gate.decided" in bodies
    assert int(mails.split(b"\n")[0]) == 1  # of his own gate
    assert b"To: sam@" in mails


def test_the_owner_sees_the_difference(both):
    assert len(differing(both, "olga")) > 20
