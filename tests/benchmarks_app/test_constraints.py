"""What must never be false is refused by the database, whatever the code in front of it does."""

from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.db.models import ProtectedError
from django.utils import timezone

from benchmarks_app.common.services import audit
from benchmarks_app.models import (
    ApiToken,
    AuditEvent,
    Benchmark,
    CandidateList,
    Change,
    Corpus,
    CorpusImage,
    CorpusVersion,
    Delivery,
    Document,
    DocumentContent,
    FamilyLink,
    Identity,
    Invitation,
    Job,
    JudgeEndpoint,
    KeyedRequest,
    Membership,
    Qrel,
    QrelSet,
    Query,
    QueryDraw,
    QueryFamily,
    Release,
    Run,
    User,
    Webhook,
)
from benchmarks_app.models.notices import Event
from benchmarks_app.triggers import RELEASE_STAYS, TRIGGERS, install_triggers
from tests import factories
from tests.constraints import Case, check, constraints_of, refused

pytestmark = pytest.mark.django_db


@pytest.fixture
def scene(benchmark) -> Benchmark:
    """A benchmark with a query; what a case needs more, it makes."""
    factories.query(benchmark, "q1")
    return benchmark


def version(of: Benchmark, number: int, sha256: str) -> CorpusVersion:
    return of.corpus.versions.create(number=number, sha256=sha256, n_documents=1)


def image(of: Benchmark, sha256: str) -> CorpusImage:
    return of.corpus.images.create(sha256=sha256, width=1, height=1, size=1)


def person() -> User:
    return User.objects.filter(username="keeper").first() or factories.user("keeper")


def hook(of: Benchmark, **values: Any) -> Webhook:
    return of.webhooks.create(url="https://ci.example.org/", created_by=person(), **values)


def delivery(of: Benchmark, **to: Any) -> Delivery:
    notice = of.notices.first() or of.notices.create(event="job.failed", path="/")
    return notice.deliveries.create(**to)


def keyed(status: int | None, key: str = "a") -> KeyedRequest:
    return person().keyed_requests.create(key_sha256=64 * key, fingerprint="", status=status)


def change(benchmark: int, writer: int) -> Change:
    return Change.objects.create(benchmark=-benchmark, writer=writer, n=1)


def draw(of: Benchmark, n_drawn: int) -> QueryDraw:
    """Of two families."""
    facts = {"seed": 1, "frame": "f", "n_population": 2, "families": []}
    return of.query_draws.create(created_by=factories.user("keeper"), n_drawn=n_drawn, **facts)


def given_by_group(of, username, **values):
    """Past the model's own care of it."""
    row = Membership.objects.filter(user=factories.member(of, username, "viewer"))
    return row.update(**values)


def identity(username, issuer, subject):
    return Identity.objects.create(user=factories.user(username), issuer=issuer, subject=subject)


def invitation(of: Benchmark, digest: str, role: str = "viewer", days: int = 1) -> Invitation:
    return of.invitations.create(
        role=role,
        secret_digest=digest,
        created_by=factories.user("keeper"),
        expires_at=timezone.now() + timedelta(days=days),
    )


def release(of: Benchmark, patch: int, **values: Any) -> Release:
    values.setdefault("state", Release.State.PUBLISHED)
    values.setdefault("published_at", timezone.now())
    return of.releases.create(
        major=1,
        minor=0,
        patch=patch,
        qrel_set=of.qrel_sets.first() or factories.qrel_set(of, {("q1", "d1"): 1}),
        created_by=factories.user("keeper"),
        **values,
    )


def qrel_set(of: Benchmark, state: str) -> QrelSet:
    return of.qrel_sets.create(name="official", kind="imported", state=state)


def qrel(of: Benchmark, docid: str) -> Qrel:
    result = of.qrel_sets.first() or qrel_set(of, "ready")
    return result.qrels.create(query=of.queries.get(), docid=docid, grade=1)


def content(of: Benchmark, content_hash: str) -> DocumentContent:
    document, _ = Document.objects.get_or_create(corpus=of.corpus, docid="d1")
    return document.contents.create(content_hash=content_hash)


def corpus(name: str, owner: str = "keeper") -> Corpus:
    return Corpus.objects.create(name=name, owner=factories.user(owner))


def run(of: Benchmark, name: str) -> Run:
    return of.runs.create(name=name, owner=factories.user("keeper"), n_rows=1, n_queries=1, depth=1)


def job(state: str, token: str | None) -> Job:
    return Job.objects.create(kind="test", title="test", state=state, token=token)


def member(of: Benchmark, who: str, role: str) -> Membership:
    return of.memberships.create(user=factories.user(who), role=role)


def api_token(days: int, digest: str) -> ApiToken:
    return ApiToken.objects.create(
        user=factories.user("keeper"),
        name="ci",
        secret_digest=digest,
        hint="bw_1",
        expires_at=timezone.now() + timedelta(days=days),
    )


def candidates(of: Benchmark, name: str) -> CandidateList:
    return of.candidate_lists.create(
        name=name, n_documents=1, n_queries=1, created_by=factories.user("keeper")
    )


def contaminated(of: Benchmark, degree: str = "exact", similarity: float = 0.9) -> Any:
    result = of.contamination_checks.first() or factories.contamination_check(of)
    return result.matches.create(query=of.queries.get(), degree=degree, similarity=similarity)


def link(
    of: Benchmark, a: str, b: str, similarity: float = 0.9, reason: str = "text"
) -> FamilyLink:
    first, second = (
        of.queries.filter(qid=qid).first() or factories.query(of, qid) for qid in (a, b)
    )
    return of.family_links.create(
        query_a=first, query_b=second, similarity=similarity, reason=reason
    )


TOKEN = "00000000-0000-0000-0000-000000000001"


def judge(of: Benchmark, name: str = "judge", **values: Any) -> JudgeEndpoint:
    fields = {"base_url": "https://j.example/", "model": "m", **values}
    return JudgeEndpoint.objects.create(
        benchmark=of, name=name, created_by=factories.user("keeper"), **fields
    )


CASES = {
    "api_token_expires_later": Case(
        good=lambda of: api_token(1, "a"), bad=lambda of: api_token(-1, "b")
    ),
    "candidate_list_name_once": Case(
        good=lambda of: [candidates(of, name) for name in ("holes", "more holes")],
        bad=lambda of: candidates(of, "holes"),
    ),
    "contaminated_query_once": Case(
        good=lambda of: [contaminated(of, degree="near"), contaminated(of, degree="document")],
        bad=lambda of: contaminated(of, degree="near"),
    ),
    "contaminated_similarity_is_a_share": Case(
        good=lambda of: contaminated(of, similarity=1.0),
        bad=lambda of: contaminated(of, degree="near", similarity=1.01),
    ),
    "contamination_check_name_once": Case(
        good=lambda of: [factories.contamination_check(of, name) for name in ("train", "dev")],
        bad=lambda of: factories.contamination_check(of, "dev"),
    ),
    "corpus_image_once": Case(
        good=lambda of: [image(of, "a"), image(of, "b")], bad=lambda of: image(of, "a")
    ),
    "corpus_name_once_per_owner": Case(
        good=lambda of: [corpus("news"), corpus("news", owner="max"), corpus("mail")],
        bad=lambda of: corpus("news"),
    ),
    "corpus_version_number_once": Case(
        good=lambda of: [version(of, 1, "a"), version(of, 2, "b")],
        bad=lambda of: version(of, 1, "c"),
    ),
    "corpus_version_bytes_once": Case(
        good=lambda of: version(of, 1, "a"), bad=lambda of: version(of, 2, "a")
    ),
    "document_docid_once": Case(
        good=lambda of: [of.corpus.documents.create(docid=docid) for docid in ("d1", "D1")],
        bad=lambda of: of.corpus.documents.create(docid="d1"),
    ),
    "content_once": Case(
        good=lambda of: [content(of, "a"), content(of, "b")], bad=lambda of: content(of, "a")
    ),
    "change_once_per_writer": Case(
        good=lambda of: [change(of.pk, 1), change(of.pk, 2), change(of.pk + 1, 1)],
        bad=lambda of: change(of.pk, 2),
    ),
    "keyed_request_done": Case(
        good=lambda of: [keyed(200, "a"), keyed(299, "b"), keyed(None, "c")],
        bad=lambda of: keyed(409, "d"),
    ),
    "keyed_request_once": Case(
        good=lambda of: [keyed(None, "a"), keyed(None, "b")], bad=lambda of: keyed(201, "a")
    ),
    "webhook_earlier_secret_has_end": Case(
        good=lambda of: [
            hook(of),
            hook(of, earlier_sealed="x", renewed_at=timezone.now()),
        ],
        bad=lambda of: hook(of, earlier_sealed="x"),
    ),
    "delivery_has_one_receiver": Case(
        good=lambda of: [delivery(of, webhook=hook(of)), delivery(of, person=person())],
        bad=lambda of: delivery(of, webhook=hook(of), person=person()),
    ),
    "delivery_once_a_webhook": Case(
        good=lambda of: delivery(of, webhook=hook(of)),
        bad=lambda of: delivery(of, webhook=of.webhooks.get()),
    ),
    "delivery_once_a_person": Case(
        good=lambda of: delivery(of, person=person()), bad=lambda of: delivery(of, person=person())
    ),
    "mail_choice_once": Case(
        good=lambda of: [person().mail_choices.create(event=event) for event in Event.values],
        bad=lambda of: person().mail_choices.create(event="job.failed"),
    ),
    "mail_choice_event_known": Case(
        good=lambda of: person().mail_choices.create(event="job.failed"),
        bad=lambda of: person().mail_choices.create(event="test"),
    ),
    "query_draw_once": Case(
        good=lambda of: draw(of, n_drawn=1),
        bad=lambda of: draw(of, n_drawn=1),
    ),
    "query_draw_is_of_its_population": Case(
        good=lambda of: draw(of, n_drawn=2),
        bad=lambda of: draw(of, n_drawn=3),
    ),
    "family_doubt_is_a_share": Case(
        good=lambda of: of.families.create(doubt=1.0), bad=lambda of: of.families.create(doubt=1.1)
    ),
    "family_link_in_order": Case(
        good=lambda of: link(of, "q1", "q2"), bad=lambda of: link(of, "q2", "q1", reason="hand")
    ),
    "family_link_once": Case(
        good=lambda of: [link(of, "q1", "q2"), link(of, "q1", "q2", reason="bag")],
        bad=lambda of: link(of, "q1", "q2"),
    ),
    "family_link_similarity_is_a_share": Case(
        good=lambda of: link(of, "q1", "q2", similarity=0.0),
        bad=lambda of: link(of, "q1", "q2", reason="bag", similarity=-0.1),
    ),
    "grade_value_once": Case(
        good=lambda of: of.grades.create(value=4, name="four", is_relevant=True),
        bad=lambda of: of.grades.create(value=3, name="three again", is_relevant=True),
    ),
    "grade_value_is_one_key": Case(
        good=lambda of: of.grades.create(value=9, name="nine", is_relevant=True),
        bad=lambda of: of.grades.create(value=10, name="ten", is_relevant=True),
    ),
    "guideline_version_once": Case(
        good=lambda of: [of.guidelines.create(version=n, text="Read.") for n in (1, 2)],
        bad=lambda of: of.guidelines.create(version=2, text="Read again."),
    ),
    "job_running_has_token": Case(
        good=lambda of: [job("queued", None), job("running", TOKEN), job("done", None)],
        bad=lambda of: job("running", None),
    ),
    "user_email_once": Case(
        good=lambda of: [
            factories.User.objects.create(username=name, email=email)
            for name, email in [("a", ""), ("b", ""), ("c", "c@example.org")]
        ],
        bad=lambda of: factories.User.objects.create(username="d", email="c@example.org"),
    ),
    "user_verified_is_email": Case(
        good=lambda of: [
            factories.User.objects.create(username=name, email=email, verified_email=verified)
            for name, email, verified in [
                ("a", "", ""),
                ("b", "b@x.org", ""),
                ("c", "c@x.org", "c@x.org"),
            ]
        ],
        bad=lambda of: factories.User.objects.filter(username="c").update(email="d@x.org"),
    ),
    "judge_name_once": Case(good=lambda of: [judge(of), judge(of, "other")], bad=judge),
    "judge_one_key": Case(
        good=lambda of: [judge(of, key_variable="A"), judge(of, "b", key_sealed="x")],
        bad=lambda of: judge(of, "c", key_variable="A", key_sealed="x"),
    ),
    "judge_concurrency_1_to_64": Case(
        good=lambda of: [judge(of, concurrency=1), judge(of, "b", concurrency=64)],
        bad=lambda of: judge(of, "c", concurrency=65),
    ),
    "judge_timeout_from_1": Case(
        good=lambda of: judge(of, timeout_seconds=1),
        bad=lambda of: judge(of, "b", timeout_seconds=0),
    ),
    "judge_attempts_from_1": Case(
        good=lambda of: judge(of, max_attempts=1), bad=lambda of: judge(of, "b", max_attempts=0)
    ),
    "judge_rate_from_1": Case(
        good=lambda of: [judge(of), judge(of, "b", requests_per_minute=1)],
        bad=lambda of: judge(of, "c", requests_per_minute=0),
    ),
    "judge_prices_from_0": Case(
        good=lambda of: [judge(of), judge(of, "b", price_in=0, price_out=0)],
        bad=lambda of: judge(of, "c", price_out=-1),
    ),
    "membership_once": Case(
        good=lambda of: [member(of, "max", "viewer"), member(of, "moritz", "viewer")],
        bad=lambda of: member(of, "max", "annotator"),
    ),
    "membership_role_known": Case(
        good=lambda of: member(of, "max", "viewer"), bad=lambda of: member(of, "moritz", "admin")
    ),
    "membership_group_gave_role": Case(
        good=lambda of: given_by_group(of, "max", role_by_group="viewer"),
        bad=lambda of: given_by_group(of, "moritz", role_by_group="annotator"),
    ),
    "membership_role_before_group": Case(
        good=lambda of: given_by_group(
            of, "max", role_by_group="viewer", role_before_group="viewer"
        ),
        bad=lambda of: given_by_group(of, "moritz", role_before_group="viewer"),
    ),
    "user_staff_by_group_is_staff": Case(
        good=lambda of: factories.user("max", is_staff=True, is_staff_by_group=True),
        bad=lambda of: factories.User.objects.update(is_staff=False, is_staff_by_group=True),
    ),
    "identity_once": Case(
        good=lambda of: [identity("max", "a", "1"), identity("moritz", "a", "2")],
        bad=lambda of: identity("mia", "a", "1"),
    ),
    "identity_once_per_person": Case(
        good=lambda of: [identity("max", "a", "1"), identity("max", "b", "1")],
        bad=lambda of: identity("max", "a", "2"),
    ),
    "invitation_role_known": Case(
        good=lambda of: invitation(of, "a"), bad=lambda of: invitation(of, "b", role="admin")
    ),
    "invitation_expires_later": Case(
        good=lambda of: invitation(of, "a"), bad=lambda of: invitation(of, "b", days=-1)
    ),
    "qrel_set_name_once": Case(
        good=lambda of: [qrel_set(of, state) for state in ("building", "building", "ready")],
        bad=lambda of: qrel_set(of, "ready"),
    ),
    "qrel_once": Case(
        good=lambda of: [qrel(of, "d1"), qrel(of, "d2")], bad=lambda of: qrel(of, "d1")
    ),
    "query_qid_once": Case(
        good=lambda of: [factories.query(of, "q2"), factories.query(factories.benchmark(), "q1")],
        bad=lambda of: factories.query(of, "q1"),
    ),
    "query_inclusion_is_a_probability": Case(
        good=lambda of: factories.query(of, "q2", inclusion_probability=1.0),
        bad=lambda of: factories.query(of, "q3", inclusion_probability=0.0),
    ),
    "query_log_name_once": Case(
        good=lambda of: [factories.query_log(of, name) for name in ("May", "June")],
        bad=lambda of: factories.query_log(of, "May"),
    ),
    "query_weight_above_0": Case(
        good=lambda of: factories.query(of, "q2", weight=0.5),
        bad=lambda of: factories.query(of, "q3", weight=0.0),
    ),
    "slice_member_once": Case(
        good=lambda of: factories.query_slice(of, "tail", of.queries.get()),
        bad=lambda of: of.slices.get().members.create(query=of.queries.get(), source="rule"),
    ),
    "slice_name_once": Case(
        good=lambda of: [factories.query_slice(of, name) for name in ("head", "tail")],
        bad=lambda of: factories.query_slice(of, "tail"),
    ),
    "slice_registered_has_time_and_members": Case(
        good=lambda of: factories.query_slice(
            of, "head", is_registered=True, registered_at=timezone.now(), members_sha256="a"
        ),
        bad=lambda of: factories.query_slice(of, "tail", is_registered=True),
    ),
    "release_deprecated_has_time": Case(
        good=lambda of: release(of, 0, state="deprecated", deprecated_at=timezone.now()),
        bad=lambda of: release(of, 1, state="deprecated"),
    ),
    "release_version_once": Case(
        good=lambda of: [release(of, 0), release(of, 1)], bad=lambda of: release(of, 1)
    ),
    "release_published_has_time": Case(
        good=lambda of: [release(of, 0), release(of, 1, state="building", published_at=None)],
        bad=lambda of: release(of, 2, published_at=None),
    ),
    "run_name_once": Case(
        good=lambda of: [run(of, "bm25"), run(of, "BM25"), run(factories.benchmark(), "bm25")],
        bad=lambda of: run(of, "bm25"),
    ),
}


@pytest.mark.parametrize("name", constraints_of("benchmarks_app"))
def test_constraint_refuses_what_it_names(scene, name):
    check("benchmarks_app", name, CASES, scene)


# --- what is written once ------------------------------------------------------------------------


def sql(statement: str, *values: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


@pytest.fixture
def event(benchmark, owner) -> AuditEvent:
    audit.record(actor=owner, action="look", benchmark=benchmark)
    return AuditEvent.objects.get()


@pytest.mark.parametrize(
    "change",
    [
        lambda event: AuditEvent.objects.update(action="nothing"),
        lambda event: AuditEvent.objects.all().delete(),
        lambda event: event.delete(),
        lambda event: event.save(),
        lambda event: AuditEvent.objects.bulk_update([event], ["action"]),
        lambda event: sql("UPDATE benchmarks_app_auditevent SET action = %s", "nothing"),
        lambda event: sql("DELETE FROM benchmarks_app_auditevent WHERE id = %s", event.pk),
    ],
)
def test_audit_event_is_neither_changed_nor_deleted(event, change):
    with refused("audit events are append-only"):
        change(event)

    assert AuditEvent.objects.get().action == "look"


def test_audit_event_outlives_its_benchmark_and_actor(benchmark, event, owner):
    owner.memberships.all().delete()
    owner.delete()
    benchmark.delete()

    assert AuditEvent.objects.get(pk=event.pk).actor_id == event.actor_id


@pytest.fixture
def published(scene) -> Release:
    return release(scene, 0)


@pytest.mark.parametrize(
    "change",
    [
        lambda it: Release.objects.update(notes="other"),
        lambda it: Release.objects.update(state="building"),
        lambda it: Release.objects.all().delete(),
        lambda it: it.delete(),
        lambda it: it.save(),
        lambda it: sql("UPDATE benchmarks_app_release SET manifest = %s", "{}"),
        lambda it: sql("DELETE FROM benchmarks_app_release WHERE id = %s", it.pk),
    ],
)
def test_published_release_is_neither_changed_nor_deleted(published, change):
    with refused("a published release never changes"):
        change(published)

    assert Release.objects.get().state == "published"


DEPRECATED = {"state": "deprecated", "deprecated_at": timezone.now(), "deprecated_reason": "typo"}


def test_published_release_can_be_deprecated_and_nothing_else_then(published):
    with refused("a published release never changes"):
        Release.objects.update(**DEPRECATED, notes="other")

    Release.objects.update(**DEPRECATED)

    with refused("a published release never changes"):
        Release.objects.update(deprecated_reason="other")
    with refused("a published release never changes"):
        Release.objects.all().delete()


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite locks all there is")
def test_triggers_that_are_there_stay_untouched_and_others_are_put_in_place():
    """Others are at work while a site is migrated: to replace a trigger is to wait for them."""
    apps_with = [apps.get_app_config(label) for label in TRIGGERS]
    changed, gone, *_ = TRIGGERS["scoring"]
    every = {trigger.name for triggers in TRIGGERS.values() for trigger in triggers}

    def oids() -> dict[str, int]:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT tgname, oid FROM pg_trigger "
                "WHERE NOT tgisinternal AND pg_table_is_visible(tgrelid)"
            )
            return {name: oid for name, oid in cursor.fetchall() if name in every}

    for app in apps_with:
        install_triggers(app)
    before = oids()
    with connection.cursor() as cursor:
        cursor.execute(f"COMMENT ON TRIGGER {changed.name} ON {changed.table} IS 'earlier'")
        cursor.execute("SELECT obj_description(%s, 'pg_trigger')", [before[gone.name]])
        (digest,) = cursor.fetchone()
        cursor.execute(gone.dropping("postgresql"))
        # Another site's, in a schema beside this one's.
        cursor.execute(f"CREATE SCHEMA beside CREATE TABLE {gone.table} (id int)")
        cursor.execute(
            f"CREATE TRIGGER {gone.name} BEFORE UPDATE ON beside.{gone.table} "
            "FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()"
        )
        cursor.execute(f"COMMENT ON TRIGGER {gone.name} ON beside.{gone.table} IS '{digest}'")
    for app in apps_with:
        install_triggers(app)

    assert before.keys() == oids().keys() == every
    assert {name for name, oid in oids().items() if oid != before[name]} == {
        changed.name,
        gone.name,
    }


def test_every_column_of_a_release_is_kept_by_its_trigger():
    may_change = {"state", "deprecated_at", "deprecated_reason", "successor_id"}
    columns = {field.column for field in Release._meta.concrete_fields}

    assert set(RELEASE_STAYS) == columns - may_change


def test_query_whose_grades_were_public_stays_exposed(scene):
    Query.objects.update(exposed_at=timezone.now())

    for value in (None, timezone.now()):
        with refused("a query whose grades were public stays exposed"):
            Query.objects.update(exposed_at=value)
    Query.objects.update(text="other words")


def test_release_that_is_being_built_can_still_change(scene):
    building = release(scene, 0, state="building", published_at=None)

    building.notes = "more"
    building.save()
    building.delete()

    assert not Release.objects.exists()


@pytest.mark.parametrize("what", ["benchmark", "qrel_set"])
def test_what_a_release_pins_is_not_deleted(published, what):
    with pytest.raises(ProtectedError):
        getattr(published, what).delete()


# --- query and family ----------------------------------------------------------------------------


@pytest.fixture
def foreign(db) -> QueryFamily:
    return QueryFamily.objects.create(benchmark=factories.benchmark())


ONE_BENCHMARK = "a query and its family belong to one benchmark"


def test_query_in_a_family_of_another_benchmark_is_refused(benchmark, foreign):
    with refused(ONE_BENCHMARK):
        factories.query(benchmark, family=foreign)
    with refused(ONE_BENCHMARK):
        Query.objects.bulk_create([Query(benchmark=benchmark, qid="q", text="?", family=foreign)])


@pytest.mark.parametrize(
    "change",
    [
        lambda family: Query.objects.update(family=family),
        lambda family: Query.objects.update(benchmark=family.benchmark),
        lambda family: sql("UPDATE benchmarks_app_query SET family_id = %s", family.pk),
    ],
)
def test_query_does_not_move_away_from_its_family(scene, foreign, change):
    with refused(ONE_BENCHMARK):
        change(foreign)


def test_family_stays_in_its_benchmark(scene, foreign):
    with refused("a family stays in its benchmark"):
        QueryFamily.objects.filter(benchmark=scene).update(benchmark=foreign.benchmark)

    assert QueryFamily.objects.filter(benchmark=scene).update(split="test") == 1
