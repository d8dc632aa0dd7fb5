"""Each event is told where it happens: in ids, once, and with nothing of a hidden split."""

import json

import pytest

from annotation.pools.services.finishing import look_for_finished
from annotation.pools.services.pooling import set_pool_state
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Notice, User
from benchmarks_app.models.notices import Event
from benchmarks_app.notice_facts import may_be_told
from benchmarks_app.notices.services.sending import body_of
from benchmarks_app.notices.services.webhooks import add_webhook
from benchmarks_app.releases.services.releasing import start_release
from scoring.gates.services.gating import start_gate
from tests import factories
from tests.annotation.making import judge, pool
from tests.scoring.making_gates import policy_of
from tests.world import OTHER_RUN, RUN

pytestmark = pytest.mark.django_db


def test_each_event_is_told_once_where_it_happens_in_ids_alone(ada):
    benchmark = factories.tiny_benchmark(slug="told")
    owner = factories.member(benchmark, "keeper-of-secrets", "owner")
    sam = factories.member(benchmark, "sam-the-sender", "submitter")
    url = "https://ci.example.org/"
    add_webhook(benchmark=benchmark, user=owner, url=url, events=Event.values)

    start_release(user=owner, qrel_set=benchmark.qrel_sets.get(), version="1.0.0")
    jobs.run_queued()
    release = benchmark.releases.get()
    sent = factories.submission(benchmark.phases.get(), RUN, by=sam)
    jobs.run_queued()
    base = factories.run(benchmark, OTHER_RUN, owner=owner, name="a secret name")
    sent.refresh_from_db()
    start_gate(policy=policy_of(base, owner), candidate=sent.run, release=release, user=owner)
    jobs.run_queued()
    small_pool = pool(benchmark, {"q-new": ["d1"]})
    look_for_finished()
    assert not Notice.objects.filter(event=Event.POOL_FINISHED).exists()
    judge(small_pool.slots.get(), owner, 1)
    for _ in range(2):
        look_for_finished()
    set_pool_state(pool=small_pool, state="closed", actor=owner)

    notices = list(Notice.objects.order_by("pk"))
    assert [notice.event for notice in notices] == [
        *("release.published", "submission.scored", "gate.decided", "pool.finished")
    ]
    for notice in notices:
        data = json.loads(body_of(notice))["data"]
        assert {type(value) for value in notice.about.values()} <= {int, str}
        assert set(notice.about) <= {"submission", "release", "gate", "pool", "job"}
        assert data["benchmark"] == "told"
        words = json.dumps(data).replace("1.0.0", "").replace("127.0.0.1", "")
        assert not [secret for secret in ("secret", "sender", "0.", "pass") if secret in words]
    # Who may be told is asked of each: of pools a submitter is not.
    assert [may_be_told(sam, notice) for notice in notices] == [True, True, True, False]
    assert [may_be_told(owner, notice) for notice in notices] == [True] * 4
    sam.memberships.all().delete()
    stranger = User.objects.get(pk=sam.pk)
    assert [may_be_told(stranger, notice) for notice in notices] == [False] * 4
