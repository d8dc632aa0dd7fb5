"""What several send at once through the API is done as if one had come after the other."""

from functools import partial

from django.urls import reverse

from benchmarks_app.models import AuditEvent, Job, User
from tests import test_api_access
from tests import world as worlds
from tests.annotation import test_races

pytestmark = test_races.pytestmark
N_AT_ONCE = 4
# How, what is sent, and what comes of it: entries of the audit log, and jobs. Drafts of releases
# are numbered, and there may be several.
OUTCOMES = {
    "benchmark-list": ("POST", "new", 1, 0),
    "release-list": ("POST", "draft", N_AT_ONCE, N_AT_ONCE),
    "campaign-try": ("POST", "-", 1, 1),
    "words-index": ("POST", "-", 0, 1),
    "team-members": ("POST", "mate", 1, 0),
    "webhook-detail": ("DELETE", "-", 1, 0),
    "contextual-set-detail": ("DELETE", "-", 1, 0),
    "campaign-detail": ("DELETE", "-", 1, 0),
    "contamination-detail": ("DELETE", "-", 1, 0),
    "reported-detail": ("DELETE", "-", 1, 0),
    "known-grade-detail": ("DELETE", "-", 1, 0),
}


def test_what_four_send_at_once_is_done_as_if_one_by_one(monkeypatch, settings):
    monkeypatch.setattr("benchmarks_app.jobs.services.jobs.send", lambda job: None)
    world = worlds.build(files=settings.MEDIA_ROOT)
    olga = User.objects.get(username="olga")
    done = {}
    for name, (how, body, *_) in OUTCOMES.items():
        address = test_api_access.ENDPOINTS[name]
        url = reverse(address.name, kwargs=address.arguments(world.arguments))
        before = AuditEvent.objects.count(), Job.objects.count()
        clients = [test_api_access.by_session(olga) for _ in range(N_AT_ONCE)]

        request = {"how": how, "url": url, "body": body}
        answers = test_races.in_threads(partial(test_api_access.ask, **request), clients)

        assert max(status for status, _ in answers) < 500
        after = AuditEvent.objects.count(), Job.objects.count()
        done[name] = (how, body, after[0] - before[0], after[1] - before[1])

    assert done == OUTCOMES
