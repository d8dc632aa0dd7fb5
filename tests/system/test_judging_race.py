"""Many annotators on one pool, over real HTTP, with everything going wrong that does go wrong."""

import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.performance.judging_client import Connection
from tests.system.site import Site

pytestmark = pytest.mark.slow
N_PEOPLE = 32
N_QUERIES, N_DOCUMENTS = 20, 25
# Of them, so many go away with documents in hand, and send their grades when all is done.
N_SLEEPERS = 4
LEASE_SECONDS = 3
LONGEST_SECONDS = 180


class Annotator(threading.Thread):
    """Grades what it is given: in any order, with pauses, twice now and then, through crashes."""

    longest_pause = 0.02

    def __init__(self, site: Site, pool: int, session: str, number: int, is_over: threading.Event):
        super().__init__(name=f"annotator {number}", daemon=True)
        self.site = site
        self.path = f"/judge/{pool}/exchange/"
        self.rng = random.Random(number)
        self.cookies = {"sessionid": session, "csrftoken": "x" * 32}
        self.is_sleeper = number < N_SLEEPERS
        self.is_over = is_over
        self.connection: Connection | None = None
        self.held: dict[str, str] = {}
        self.outbox: list[dict[str, Any]] = []
        self.sent: dict[str, dict[str, Any]] = {}
        self.told: dict[str, str] = {}
        self.trouble: list[str] = []

    def run(self) -> None:
        try:
            if self.is_sleeper:
                self._sleep_on_documents()
            else:
                self._judge_until_finished()
        except Exception as error:  # noqa: BLE001 (told by the test)
            self.trouble.append(repr(error))
        finally:
            self._hang_up()

    def _hang_up(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def _judge_until_finished(self) -> None:
        while not self.is_over.is_set():
            self._grade_some()
            answer = self._exchange(want=self.rng.randint(1, 6))
            if answer["work"]["state"] == "finished" and not self.outbox:
                return
            waits = answer["work"]["state"] in ("held", "second_person")
            time.sleep(0.5 if waits else self.rng.random() * self.longest_pause)

    def _sleep_on_documents(self) -> None:
        self._exchange(want=6)
        taken = list(self.held)
        self.is_over.wait()
        for key in taken:
            self._grade(key)
        while self.outbox:
            self._exchange(want=0)

    def _grade_some(self) -> None:
        keys = list(self.held)
        self.rng.shuffle(keys)
        for key in keys[: self.rng.randint(1, 4)]:
            self._grade(key)

    def _grade(self, key: str) -> None:
        event = {
            "client_id": str(uuid.UUID(int=self.rng.getrandbits(128), version=4)),
            "do": "grade",
            "token": self.held.pop(key),
            "grade": self.rng.randint(0, 3),
        }
        self.outbox.append(event)
        self.sent[event["client_id"]] = event

    def _exchange(self, want: int) -> dict[str, Any]:
        """Send the outbox, in any order and with repetitions; what is answered leaves it."""
        say = list(self.outbox)
        if self.sent and self.rng.random() < 0.3:
            say.append(self.rng.choice(list(self.sent.values())))
        self.rng.shuffle(say)
        answer = self._asked(say, want)
        for done in answer["said"]:
            before = self.told.setdefault(done["client_id"], done["state"])
            if before != done["state"] or done["state"] == "refused":
                self.trouble.append(f"{done} after {before}")
        self.outbox = [event for event in self.outbox if event["client_id"] not in self.told]
        self.held |= {item["key"]: item["token"] for item in answer["items"]}
        for key in answer["gone"]:
            del self.held[key]
        return answer

    def _asked(self, say: list[dict[str, Any]], want: int) -> dict[str, Any]:
        """The answer of a server that may be killed at any moment."""
        while True:
            try:
                if self.connection is None:
                    self.connection = Connection(self.site.port, self.site.host)
                    self.connection.cookies = dict(self.cookies)
                answer = self.connection.exchange(self.path, say, list(self.held), want)
            except OSError:
                self._hang_up()
                time.sleep(0.1 + self.rng.random() * 0.2)
                if self.is_over.is_set() and not self.is_sleeper:
                    raise
            else:
                return dict(answer)


@pytest.fixture
def racing_site(tmp_path: Path) -> Iterator[Site]:
    with Site(tmp_path / "race") as site:
        site.env["LEASE_SECONDS"] = str(LEASE_SECONDS)
        yield site


def n_done(site: Site, pool: int) -> int:
    ((n,),) = site.rows(
        "SELECT count(*) FROM annotation_slot WHERE pool_id = ? AND state = 'done'", pool
    )
    return int(n)


@pytest.mark.parametrize("overlap", [1, 2])
def test_every_document_ends_with_the_wanted_labels_and_no_label_is_lost(racing_site, overlap):
    site = racing_site
    wanted = N_QUERIES * N_DOCUMENTS * overlap
    facts = site.call(
        "make_race",
        slug="race",
        n_queries=N_QUERIES,
        n_documents=N_DOCUMENTS,
        overlap=overlap,
        n_people=N_PEOPLE,
    )
    pool, is_over = facts["pool"], threading.Event()
    site.start("web")
    people = [
        Annotator(site, pool, session, number, is_over)
        for number, session in enumerate(facts["sessions"])
    ]
    for person in people:
        person.start()

    try:
        for share in (0.3, 0.6):
            enough = int(wanted * share)
            site.wait_for(lambda n=enough: n_done(site, pool) >= n, "labels", LONGEST_SECONDS)
            site.kill("web")
            site.start("web")
        for person in people[N_SLEEPERS:]:
            person.join(timeout=LONGEST_SECONDS)
    finally:
        is_over.set()
        for person in people:
            person.join(timeout=30)

    assert [person.trouble for person in people] == [[]] * N_PEOPLE
    assert not any(person.is_alive() or person.outbox for person in people)
    assert_pool_is_right(site, pool, wanted, overlap)
    assert_ledger_is_what_was_told(site, pool, people)
    assert all("extra" in person.told.values() for person in people[:N_SLEEPERS])


def assert_pool_is_right(site: Site, pool: int, wanted: int, overlap: int) -> None:
    """Every entry has exactly the labels wanted, by different people; the rest are extra."""
    states = site.rows(
        "SELECT state, count(*) FROM annotation_slot WHERE pool_id = ? GROUP BY state", pool
    )
    assert [tuple(row) for row in states] == [("done", wanted)]
    labels = site.rows(
        "SELECT s.entry_id, s.id, j.actor_id, s.annotator_id FROM annotation_judgment j"
        " JOIN annotation_slot s ON s.id = j.slot_id WHERE s.pool_id = ? AND NOT j.is_surplus",
        pool,
    )
    assert len(labels) == wanted
    assert len({slot for _, slot, _, _ in labels}) == wanted
    assert set(Counter(entry for entry, *_ in labels).values()) == {overlap}
    assert len({(entry, actor) for entry, _, actor, _ in labels}) == wanted
    assert all(actor == holder for _, _, actor, holder in labels)


def assert_ledger_is_what_was_told(site: Site, pool: int, people: list[Annotator]) -> None:
    """Every acknowledged judgment is there exactly once, as what it was said to be."""
    rows = site.rows(
        "SELECT client_id, is_surplus, grade FROM annotation_judgment WHERE pool_id = ?", pool
    )
    stored = Counter(str(uuid.UUID(str(client_id))) for client_id, _, _ in rows)
    assert set(stored.values()) == {1}
    results = {key: state for person in people for key, state in person.told.items()}
    sent = {key: event["grade"] for person in people for key, event in person.sent.items()}
    assert {
        str(uuid.UUID(str(client_id))): ("extra" if is_surplus else "saved")
        for client_id, is_surplus, _ in rows
    } == results
    assert {str(uuid.UUID(str(client_id))): grade for client_id, _, grade in rows} == sent
