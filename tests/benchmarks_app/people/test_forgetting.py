"""Deleting a person: what goes, what stays, who may, and what is known of them before."""

import io
import json
import stat
import uuid
import zipfile
from errno import ENOSPC
from unittest.mock import Mock

import pytest
from allauth.mfa.models import Authenticator
from axes.models import AccessAttempt, AccessLog
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, models, transaction
from django.urls import reverse

from annotation.agreement.selectors.agreement import Filters, agreement_report
from annotation.common.selectors.names import pseudonyms_in
from annotation.models import Judgment, KeyMap, KnownGrade, PoolStart, Question
from benchmarks_app.collections.services.uploading import local, receive_upload
from benchmarks_app.common.selectors.people import named
from benchmarks_app.common.services import audit
from benchmarks_app.errors import (
    InvitationAddressError,
    LastManagerError,
    LastOwnerError,
    ManagerNeededError,
)
from benchmarks_app.jobs.services import jobs
from benchmarks_app.management.commands import export_user
from benchmarks_app.models import (
    ApiToken,
    AuditEvent,
    Forgetting,
    Invitation,
    Job,
    QueryLog,
    Role,
    StoreCheck,
    Team,
    Upload,
    User,
)
from benchmarks_app.people.services import forgetting, people
from benchmarks_app.people.services.api_tokens import create_api_token
from benchmarks_app.people.services.forgetting import delete_person
from benchmarks_app.people.services.person_export import export_person
from benchmarks_app.person_records import LASTING, WRITTEN
from benchmarks_app.triggers import AUDIT_STAYS, JUDGMENT_STAYS
from benchwright.texts.names import Names
from tests import factories
from tests.annotation import making

PASSWORD = "a long password"


@pytest.fixture
def zelda(benchmark, owner):
    person = factories.member(benchmark, "zelda-q", "annotator")
    person.first_name, person.last_name, person.verified_email = "Zoë", "Quill", person.email
    person.save()
    return person


@pytest.fixture
def chief(db):
    return factories.user("chief", is_staff=True, is_superuser=True)


@pytest.fixture
def manager(db):
    return factories.user("manager", is_staff=True)


# --- finding names -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("zelda-q_run.txt", "X_run.txt"),
        ("mail ZELDA-Q@example.org now", "mail X now"),
        ("Zoë Quill, Quill, Zoë; quill zoë", "X, X; X"),
        ("zelda-quick and Zoë alone", "zelda-quick and Zoë alone"),
        ("zelda-q@elsewhere.org and x@zelda-q.org", "zelda-q@elsewhere.org and x@zelda-q.org"),
        ("ask @zelda-q, please; (@Zelda-Q)", "ask @X, please; (@X)"),
        ("Zoë_Quill.tsv, zoë.quill, Zoë-Quill", "X.tsv, X, X"),
        ("by Zoë  Quill and Quill,\nZoë", "by X and X"),
        ("Zoë and Quill", "Zoë and Quill"),
        ({"zelda-q": ["by zelda-q", 3]}, {"X": ["by X", 3]}),
    ],
)
def test_name_is_found_as_a_whole_word(text, expected):
    names = Names.of(username="zelda-q", email="zelda-q@example.org", first="Zoë", last="Quill")

    assert names.replaced(text, "X") == expected


def test_names_of_one_letter_or_of_signs_alone_are_no_words():
    initials = Names.of(username="ab-1815", email="", first="A", last="B")
    signs = Names.of(username="dotted", email="", first=".", last="Quill")

    assert initials.replaced("A, B and C", "X") == "A, B and C"
    assert signs.replaced("with a Quill", "X") == "with a Quill"


def test_short_user_name_is_replaced_where_it_is_all_there_is():
    names = Names.of(username="bo", email="", first="", last="")

    assert names.replaced("bo", "X") == "X"
    assert names.replaced("tell bo", "X") == "tell bo"


# --- what goes -----------------------------------------------------------------------------


def test_everything_that_names_the_person_goes(zelda, benchmark, owner, settings):
    people.invite(benchmark=benchmark, role=Role.VIEWER, actor=owner, days=3, email=zelda.email)
    create_api_token(user=zelda, name="zelda-q's", days=3)
    AccessLog.objects.create(username="zelda-q", path_info="/")
    AccessAttempt.objects.create(username="zelda-q", path_info="/", failures_since_start=1)
    audit.record(actor=zelda, action="import", target="zelda-q.csv", by=["Zoë Quill"])
    audit.record(actor=None, action="sign-in-fail", target=named(zelda.pk))
    Job.objects.create(kind="x", title="for Zoë Quill", parameters={"zelda-q": zelda.email})
    team = Team.objects.create(name="Zoë Quill and Olga")
    team.members.add(zelda, owner)
    settings.EMAIL_FILE_PATH.mkdir(parents=True, exist_ok=True)
    mail = settings.EMAIL_FILE_PATH / "one.log"
    rule = "\n" + "-" * 79 + "\n"
    mail.write_text(f"To: {zelda.email}\n\nhello{rule}To: olga@example.org\n\nstays{rule}")

    forgotten = delete_person(user=zelda, actor=owner)

    kept = User.objects.get(pk=zelda.pk)
    assert (kept.username, kept.email, str(kept)) == (forgotten.pseudonym, "", kept.username)
    assert kept.verified_email == ""
    assert (kept.is_active, kept.is_anonymised, kept.has_usable_password()) == (False, True, False)
    assert not kept.memberships.exists() and not kept.teams.exists()
    gone = (ApiToken, AccessLog, AccessAttempt)
    assert [model.objects.count() for model in gone] == [0, 0, 0]
    assert not AuditEvent.objects.filter(action="sign-in-fail").exists()
    assert "stays" in mail.read_text() and "hello" not in mail.read_text()
    assert all_texts_without("zelda", "Zoë", "Quill", "zelda-q@example.org")
    event = AuditEvent.objects.get(action="import")
    assert event.target == f"{forgotten.pseudonym}.csv"
    assert event.detail == {"by": [forgotten.pseudonym]}


def all_texts_without(*words: str) -> bool:
    """Whether no text of any row of the database has one of the words."""
    for model in apps.get_models():
        for values in model._base_manager.values_list():
            text = str(values).casefold()
            results = [word for word in words if word.casefold() in text]
            assert not results, (model, values)
    return True


def test_failed_sign_ins_go_under_whichever_name_they_were_typed(client, zelda, owner):
    factories.user("Zelda-q")
    for name in ("zelda-q", "ZELDA-Q", zelda.email.title(), "zoë quill", "Zelda-q", "olga"):
        client.post(reverse("sign-in"), {"username": name, "password": "wrong"})
    assert "zelda" not in str(AccessAttempt.objects.values_list("post_data")).casefold()

    delete_person(user=zelda, actor=owner)

    assert {row.username for row in AccessAttempt.objects.all()} == {"Zelda-q", "olga"}


def test_pictures_and_checks_of_files_lose_the_name(
    zelda, owner, settings, tmp_path, django_capture_on_commit_callbacks
):
    settings.DATA_DIR = tmp_path
    folder = tmp_path / "cache" / "charts"
    folder.mkdir(parents=True)
    for name in ("1.svg", "1.png", "vega-1.js.gz"):
        (folder / name).write_text("zelda-q-bm25")
    StoreCheck.objects.create(broken=[{"file": "uploads/0a/zelda-q.tsv"}])

    with django_capture_on_commit_callbacks(execute=True):
        delete_person(user=zelda, actor=owner)

    assert [path.name for path in folder.iterdir()] == ["vega-1.js.gz"]
    assert all_texts_without("zelda")


def test_names_that_become_one_are_told_apart(zelda, benchmark, owner):
    for name in ("zelda-q eval", "Zelda-Q eval", f"zelda-q {'x' * 112}", f"ZELDA-Q {'x' * 112}"):
        Team.objects.create(name=name)
        factories.query_log(benchmark, name)

    pseudonym = delete_person(user=zelda, actor=owner).pseudonym

    for model in (Team, QueryLog):
        names = model.objects.values_list("name", flat=True)
        assert len({name for name in names if name.startswith(pseudonym)}) == 4


def test_mail_stays_where_a_person_cannot_be_deleted(zelda, owner, settings, tmp_path, monkeypatch):
    settings.EMAIL_FILE_PATH = tmp_path
    mail = settings.EMAIL_FILE_PATH / "one.log"
    mail.write_text(f"To: {zelda.email}\n\nhello")
    monkeypatch.setattr(forgetting, "start_erasing", Mock(side_effect=IntegrityError))

    with pytest.raises(IntegrityError):
        delete_person(user=zelda, actor=owner)

    assert mail.exists()


@pytest.mark.parametrize("name", ["zelda-q.tsv", "Zoë Quill.tsv"])
def test_stored_file_loses_the_name_and_keeps_its_bytes(
    name, zelda, benchmark, owner, django_capture_on_commit_callbacks
):
    sent = SimpleUploadedFile(name, b"1\twhat she sent\n")
    upload = receive_upload(benchmark=benchmark, owner=zelda, file=sent)

    with django_capture_on_commit_callbacks(execute=True):
        forgotten = delete_person(user=zelda, actor=owner)

    kept = Upload.objects.get(pk=upload.pk)
    assert kept.name == f"{forgotten.pseudonym}.tsv"
    written = upload.stored.rpartition("/")[2].removesuffix(".tsv")
    assert kept.stored == upload.stored.replace(written, forgotten.pseudonym)
    assert local(kept).read_bytes() == b"1\twhat she sent\n"
    assert not default_storage.exists(upload.stored)


def test_sessions_end_and_are_deleted(signed_in, zelda, owner):
    client = signed_in(zelda)
    assert Session.objects.exists()

    delete_person(user=zelda, actor=owner)

    assert not Session.objects.exists()
    assert client.get(reverse("account-detail")).status_code == 302


def test_events_name_others_by_number_also_where_a_word_of_it_was_a_name(zelda):
    event = audit.record(actor=None, action="member-add", target=named(zelda.pk))
    called = factories.user("user")
    spoken = audit.record(actor=called, action="import", target="of user.tsv")

    forgotten = delete_person(user=called, actor=called)

    assert AuditEvent.objects.get(pk=event.pk).target == named(zelda.pk)
    assert AuditEvent.objects.get(pk=spoken.pk).target == f"of {forgotten.pseudonym}.tsv"


@pytest.mark.parametrize("is_managed", [False, True])
def test_name_of_common_words_takes_no_words_from_others(benchmark, owner, manager, is_managed):
    """Anybody may call themselves anything, and delete themselves."""
    vandal = factories.user("vandal", first_name="final", last_name="answers")
    other = factories.tiny_benchmark("other")
    people.add_member(benchmark=benchmark, user=vandal, role=Role.VIEWER, actor=owner)
    there, here = (
        factories.run(of, "q1 Q0 d1 1 1.0 s", description="The final answers.")
        for of in (other, benchmark)
    )
    own = Team.objects.create(name="Final Answers")
    own.members.add(vandal, owner)
    others = Team.objects.create(name="final answers of Lund")

    pseudonym = delete_person(user=vandal, actor=manager if is_managed else vandal).pseudonym

    for row in (there, here, own, others):
        row.refresh_from_db()
    assert here.description == f"The {pseudonym}."
    assert own.name == pseudonym
    elsewhere = pseudonym if is_managed else "final answers"
    assert (there.description, others.name) == (f"The {elsewhere}.", f"{elsewhere} of Lund")


@pytest.mark.parametrize("is_managed", [False, True])
def test_name_that_is_a_word_of_the_program_leaves_the_names_of_values(benchmark, is_managed):
    person = factories.member(benchmark, "file", "owner")
    factories.member(benchmark, "second", "owner")
    parameters = {"file": "by file", "file_name": "file.tsv", "in": [{"file": 3}], "My file": 1}
    job = Job.objects.create(
        kind="x", benchmark=benchmark, created_by=person, parameters=parameters
    )
    event = audit.record(actor=person, action="import", target="x", file="file", n_files=3)
    manager = factories.user("manager", is_staff=True)

    name = delete_person(user=person, actor=manager if is_managed else person).pseudonym

    job.refresh_from_db()
    assert job.parameters == {
        "file": f"by {name}",
        "file_name": f"{name}.tsv",
        "in": [{"file": 3}],
        f"My {name}": 1,
    }
    assert AuditEvent.objects.get(pk=event.pk).detail == {"file": name, "n_files": 3}


def test_deleting_again_changes_nothing(zelda, owner):
    first = delete_person(user=zelda, actor=owner)
    n_events = AuditEvent.objects.count()

    assert delete_person(user=zelda, actor=owner).pseudonym == first.pseudonym
    assert AuditEvent.objects.count() == n_events


def test_links_the_person_made_are_closed_and_that_is_written_down(zelda, benchmark, owner):
    invitation = people.invite(
        benchmark=benchmark, role=Role.VIEWER, actor=zelda, days=3
    ).invitation

    delete_person(user=zelda, actor=owner)

    assert Invitation.objects.get().revoked_at is not None
    event = AuditEvent.objects.get(action="invitation-revoke")
    assert (event.actor, event.target) == (owner, f"invitation {invitation.pk}")


def test_link_for_an_address_outlives_an_account_that_said_it_was_theirs(benchmark, owner):
    offered = {"benchmark": benchmark, "role": Role.VIEWER, "note": "in May"}
    invitation = people.invite(
        **offered, actor=owner, days=3, email="newhire@corp.example"
    ).invitation
    xeno, hire = factories.user("xeno"), factories.user("hire")
    xeno.email, hire.email = "NewHire@corp.example", invitation.email
    xeno.save()
    assert known(xeno)["invitations"] == []

    delete_person(user=xeno, actor=xeno)

    invitation.refresh_from_db()
    assert (invitation.revoked_at, invitation.note) == (None, "in May")
    assert all_texts_without("corp.example")
    with pytest.raises(InvitationAddressError):
        people.accept_invitation(invitation=invitation, user=factories.user("yuri"))
    hire.verified_email = hire.email
    people.accept_invitation(invitation=invitation, user=hire)


def test_link_for_an_address_that_is_closed_forgets_it(zelda, benchmark, owner):
    invitation = people.invite(
        benchmark=benchmark, role=Role.VIEWER, actor=owner, days=3, email=zelda.email, note="hers"
    ).invitation
    people.revoke_invitation(invitation=invitation, actor=owner)

    delete_person(user=zelda, actor=owner)

    invitation.refresh_from_db()
    assert (invitation.email, invitation.note) == ("", "")


def test_freed_bytes_are_overwritten_by_a_job(zelda, owner):
    delete_person(user=zelda, actor=owner)

    job = Job.objects.get(kind="erase-freed-pages")
    assert "benchmarks_app_user" in job.parameters["tables"]
    assert job.created_by == owner


def test_sqlite_overwrites_what_it_deletes(db):
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL has no such thing: its tables are written anew")
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA secure_delete")
        assert cursor.fetchone() == (1,)


# --- what stays ----------------------------------------------------------------------------


def test_labels_stay_and_their_notes_and_reasons_lose_the_name(zelda, benchmark, owner):
    query = factories.query(benchmark, "q1")
    label = Judgment.objects.create(
        benchmark=benchmark, query=query, docid="d1", kind="grade", grade=2, actor=zelda,
        note="as zelda-q said", client_id="00000000-0000-0000-0000-000000000001",
    )  # fmt: skip
    settled = Judgment.objects.create(
        benchmark=benchmark, query=query, docid="d1", kind="adjudicate", outcome="override",
        grade=1, actor=owner, reason="zelda-q missed the end", client_id=uuid.uuid4(),
    )  # fmt: skip

    forgotten = delete_person(user=zelda, actor=owner)

    settled.refresh_from_db()
    assert settled.reason == f"{forgotten.pseudonym} missed the end"
    kept = Judgment.objects.get(pk=label.pk)
    assert (kept.grade, kept.actor_id, kept.created_at) == (2, zelda.pk, label.created_at)
    assert kept.note == f"as {forgotten.pseudonym} said"


def test_agreement_is_what_it_was(zelda, benchmark, owner, ada):
    pool = making.pool(benchmark, {"q1": [f"d{n}" for n in range(8)]}, overlap=2)
    for number in range(8):
        for person, grade in ((zelda, number % 4), (ada, number % 3)):
            Judgment.objects.create(
                benchmark=benchmark, query=benchmark.queries.get(), docid=f"d{number}", pool=pool,
                kind="grade", purpose="label", grade=grade, actor=person, client_id=uuid.uuid4(),
            )  # fmt: skip

    def measured() -> dict:
        report = agreement_report(benchmark, Filters(), Judgment.objects.latest("pk").pk)
        return {key: value for key, value in report.items() if key != "made_at"}

    before, name = measured(), pseudonyms_in(benchmark)(zelda.pk)

    delete_person(user=zelda, actor=owner)

    assert measured() == before
    assert pseudonyms_in(benchmark)(zelda.pk) == name


def test_a_job_at_work_begins_anew_with_the_pseudonym(benchmark, zelda, monkeypatch):
    def handler(job):
        name = job.parameters["name"]
        delete_person(user=zelda, actor=zelda)
        with job.commit():
            Team.objects.create(name=name)

    monkeypatch.setitem(jobs.HANDLERS, "make-team", handler)
    named = {"title": "zelda-q's", "parameters": {"name": "team of zelda-q"}}
    job = jobs.start(kind="make-team", benchmark=benchmark, user=zelda, **named)

    for _ in ("it is at work", "it begins anew"):
        jobs.execute(job.pk, has_heartbeat=False)

    zelda.refresh_from_db()
    assert Team.objects.get().name == f"team of {zelda.username}"


@pytest.mark.parametrize(
    ("model", "stays", "may_differ"),
    [
        (Judgment, JUDGMENT_STAYS, {"reason", "note", "rater", "source"}),
        (AuditEvent, AUDIT_STAYS, {"target", "detail"}),
    ],
)
def test_only_what_people_write_may_differ_while_somebody_is_forgotten(model, stays, may_differ):
    columns = {field.column for field in model._meta.concrete_fields}

    assert columns - set(stays) == may_differ
    assert set(WRITTEN[model]) == may_differ


def test_grade_cannot_be_changed_even_then(benchmark, ada):
    label = Judgment.objects.create(
        benchmark=benchmark, query=factories.query(benchmark, "q1"), docid="d1", kind="grade",
        grade=2, actor=ada, client_id=uuid.uuid4(),
    )  # fmt: skip
    for change in ({"grade": 3}, {"note": "x", "docid": "d2"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Forgetting.objects.create()
            Judgment.objects.filter(pk=label.pk).update(**change)
    with transaction.atomic():
        Forgetting.objects.create()
        Judgment.objects.filter(pk=label.pk).update(note="x")


def test_ledger_and_log_are_append_only_again_afterwards(zelda, benchmark, owner):
    delete_person(user=zelda, actor=owner)

    for change in ({"target": "other"}, {"detail": {}}):
        with pytest.raises(IntegrityError), transaction.atomic():
            AuditEvent.objects.update(**change)


# Texts that hold no names of people: content of collections, machine's words, digests, paths.
CONTENT = {
    "benchmarks_app": """
        ApiToken.hint ApiToken.name ApiToken.scopes ApiToken.secret_digest AuditEvent.action
        Backup.place Backup.snapshot
        Benchmark.hidden_splits Benchmark.shown_metadata
        CandidateList.parquet CandidateList.sha256 ContaminatedQuery.outside_text
        ContaminationCheck.parameters ContaminationCheck.result Corpus.lang CorpusImage.media_type
        CorpusImage.sha256 CorpusImage.stored CorpusImage.thumbnail CorpusVersion.cut
        CorpusVersion.difference CorpusVersion.index CorpusVersion.metadata_kinds
        CorpusVersion.parquet CorpusVersion.sha256 CorpusVersion.source Document.docid
        DocumentContent.content_hash DocumentContent.lang DocumentContent.parent_docid
        DocumentContent.text DocumentContent.title FamilyChange.after FamilyChange.before
        Grouping.algorithm Grouping.inputs_sha256 Grouping.parameters
        Identity.issuer Identity.subject Membership.role_before_group Membership.role_by_group
        Invitation.email Invitation.secret_digest Job.kind JudgeEndpoint.answer_format
        JudgeEndpoint.base_url JudgeEndpoint.key_sealed JudgeEndpoint.key_variable
        JudgeEndpoint.model JudgeEndpoint.trial KeyedRequest.fingerprint KeyedRequest.key_sha256
        Delivery.answer Delivery.fault LeftFile.name
        Notice.about Notice.api_path Notice.event Notice.path
        Qrel.docid QrelSet.digest
        QrelSet.parameters QrelSet.rule Query.clicks Query.description Query.lang Query.metadata
        Query.narrative Query.qid Query.text QueryDraw.families QueryDraw.frame QueryLog.facts
        QueryLog.masked QueryLog.parquet
        QueryLog.sha256 QuerySample.parameters Release.content_sha256 Release.findings
        Release.folder Release.hidden_splits Release.label_diff Release.options Release.tie_rule
        Run.parquet Run.sha256 Slice.members_sha256 Slice.rule SplitPlan.algorithm SplitPlan.digest
        SplitPlan.inputs_sha256 SplitPlan.parameters SplitPlan.sizes
        Upload.sha256 Upload.stored User.email User.first_name User.last_name User.password
        User.language User.username User.verified_email
        Webhook.earlier_sealed Webhook.events Webhook.secret_sealed Webhook.url
        WorkerHeartbeat.name WorkerHeartbeat.store WorkerHeartbeat.version
    """,
    "annotation": """
        AggregationPolicy.parameters AggregationPolicy.rule Campaign.error Campaign.model
        Campaign.runs Campaign.trial CampaignPair.docid CampaignPair.error CampaignPair.error_code
        CampaignPair.raw JudgePrompt.digest JudgePrompt.guideline_text JudgePrompt.scale
        Judgment.confidence Judgment.content_hash Judgment.docid Judgment.evidence
        KeyMap.bindings MachineLabel.key MachineLabel.model MachineLabel.parameters
        MachineLabel.probabilities MachineLabel.raw Pool.digest Slot.arm
    """,
    "scoring": """
        CaseImage.media_type CaseImage.name CaseImage.sha256 CaseImage.stored CaseOutcome.answers
        CaseOutcome.error CaseOutcome.error_code CaseOutcome.reason CaseOutcome.verdicts
        CaseSet.sha256 CaseSet.slices CaseSource.expected CaseSource.run_sha256
        CaseSource.slice_name Comparison.key Comparison.parameters Comparison.result
        ContextualCase.case_id ContextualCase.content ContextualCase.slices
        ContextualEvaluation.error ContextualEvaluation.judge_name ContextualEvaluation.model
        ContextualEvaluation.only_slice ContextualEvaluation.prompt_hash EmbeddingPair.places
        EmbeddingPair.report GatePolicy.digest GatePolicy.rehearsal GateRehearsal.content
        GateRehearsal.digest GateRehearsal.result GateResult.error LadderStep.measure
        LiveSystem.headers LiveSystem.id_path
        LiveSystem.results_path LiveSystem.score_path LiveSystem.template LiveSystem.url
        OnlineResult.from_log OnlineResult.metric Phase.split ProbingFlag.evidence
        ReportedScore.measure ReportedScore.sha256 ReportedScore.split Retrieval.language
        Retrieval.system RunLatencies.stored Score.measure Score.slice_name ScoreSet.hits
        ScoreSet.intervals
        ScoreSet.per_query ScoreSet.scorer_version
    """,
}
# Names of runs, which follow the runs: `tests/annotation/pools/test_pooling.py`.
OF_RUNS = {"Pool.parameters", "Pool.statistics", "PoolEntry.contributors"}
TEXTS = (models.CharField, models.TextField, models.JSONField, models.SlugField)


@pytest.mark.parametrize("app", CONTENT)
def test_of_every_text_it_is_decided_whether_it_may_name_people(app):
    known = [*WRITTEN.items(), *((model, fields) for model, (_, fields) in LASTING.items())]
    decided = {f"{model.__name__}.{field}" for model, fields in known for field in fields}
    texts = {
        f"{model.__name__}.{field.name}"
        for model in apps.get_app_config(app).get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, TEXTS) and not field.choices
    }

    assert texts - decided - OF_RUNS == set(CONTENT[app].split())


# --- who may not be deleted ----------------------------------------------------------------


def test_only_owner_hands_their_benchmarks_over_first(benchmark, owner):
    second = factories.benchmark("second", name="Second set")
    people.add_member(benchmark=second, user=owner, role=Role.OWNER, actor=None)

    with pytest.raises(LastOwnerError, match="Second set and Standard library"):
        delete_person(user=owner, actor=None)

    assert User.objects.get(pk=owner.pk).username == "olga"
    assert not Job.objects.filter(kind="erase-freed-pages").exists()


def test_only_superuser_stays(chief):
    with pytest.raises(LastManagerError):
        delete_person(user=chief, actor=None)


def test_manager_deletes_no_superuser(chief, manager):
    factories.user("other", is_superuser=True)

    with pytest.raises(ManagerNeededError):
        delete_person(user=chief, actor=manager)


# --- pages ---------------------------------------------------------------------------------


def test_person_deletes_their_own_account_with_their_password(signed_in, zelda):
    client, url = signed_in(zelda), reverse("account-delete")

    wrong = client.post(url, {"password": "not this"})
    assert wrong.status_code == 422
    assert "not your password" in wrong.content.decode()
    assert not User.objects.get(pk=zelda.pk).is_anonymised

    right = client.post(url, {"password": PASSWORD})
    assert right.status_code == 200
    assert User.objects.get(pk=zelda.pk).username in right.content.decode()
    assert client.get(reverse("account-detail")).status_code == 302


def test_password_cannot_be_guessed_there(signed_in, zelda, settings):
    client, url = signed_in(zelda), reverse("account-delete")
    for _ in range(settings.AXES_FAILURE_LIMIT):
        client.post(url, {"password": "not this"})

    answer = client.post(url, {"password": PASSWORD})

    assert "Try again later" in answer.content.decode()
    assert not User.objects.get(pk=zelda.pk).is_anonymised


def test_page_says_why_an_only_owner_stays(signed_in, owner):
    page = signed_in(owner).get(reverse("account-delete")).content.decode()

    assert "Make somebody else an owner first" in page
    assert "Delete for good" not in page


@pytest.mark.parametrize(
    ("visibility", "role", "kinds"),
    [
        ("private", None, set()),
        ("private", "viewer", {"benchmark", "release"}),
        ("public", None, {"benchmark", "release"}),
        ("private", "maintainer", {"benchmark", "release", "slice"}),
    ],
)
def test_name_of_common_words_finds_nothing_that_is_not_seen(
    db, signed_in, visibility, role, kinds
):
    of = factories.tiny_benchmark(description="Our hidden thing.", visibility=visibility)
    factories.release(of.qrel_sets.get(), notes="A hidden thing.")
    factories.query_slice(of, "hidden thing")
    asker = factories.user("asker", first_name="hidden", last_name="thing")
    if role:
        people.add_member(benchmark=of, user=asker, role=role, actor=None)

    page = signed_in(asker).get(reverse("account-delete"))
    forgotten = delete_person(user=asker, actor=asker)

    assert {place.split()[0] for place in page.context["lasting"]} == kinds
    assert {place.split()[0] for place in forgotten.lasting} == kinds


def test_manager_finds_and_deletes_a_person(signed_in, zelda, manager):
    client = signed_in(manager)
    assert "zelda-q" in client.get(reverse("person-list"), {"q": "Quill"}).content.decode()
    assert "Nobody fits" in client.get(reverse("person-list"), {"q": "no one"}).content.decode()
    User.objects.filter(username="zelda-q").update(first_name="Özge")
    assert "zelda-q" in client.get(reverse("person-list"), {"q": "özge"}).content.decode()

    answer = client.post(reverse("person-delete", args=[zelda.pk]), {"password": PASSWORD})

    assert answer["Location"] == reverse("person-list")
    page = client.get(answer["Location"]).content.decode()
    assert "zelda" not in page and "deleted</span>" in page


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("person-list", "get"), ("person-delete", "get"), ("person-delete", "post"),
        ("person-export", "post"), ("audit-log", "get"), ("audit-export", "get"),
        ("api:site-events", "get"), ("api:site-event-export", "get"),
        ("api:account-export", "get"), ("api:account-delete", "post"),
    ],
)  # fmt: skip
def test_only_managers_of_the_site_see_others(signed_in, zelda, owner, name, how):
    arguments = (
        [zelda.pk] if name.split(":")[-1].startswith(("person-d", "person-e", "acc")) else []
    )

    answer = getattr(signed_in(owner), how)(reverse(name, args=arguments))

    assert answer.status_code == 403
    assert not User.objects.get(pk=zelda.pk).is_anonymised


# --- API and commands ----------------------------------------------------------------------


def test_api_deletes_with_the_password_alone(client, zelda):
    token = create_api_token(user=zelda, name="t", days=2).secret
    sent = {"headers": {"Authorization": f"Bearer {token}"}, "content_type": "application/json"}
    url = reverse("api:me-delete")

    wrong = client.post(url, {"password": "not this"}, **sent)
    assert (wrong.status_code, wrong.json()["code"]) == (403, "wrong-password")
    right = client.post(url, {"password": PASSWORD}, **sent)
    assert right.status_code == 200, right.content
    assert User.objects.get(pk=zelda.pk).username == right.json()["pseudonym"]


def test_command_refuses_and_says_what_stays(benchmark, owner, zelda):
    out = io.StringIO()
    with pytest.raises(CommandError, match="only owner"):
        call_command("delete_user", "olga", "--yes")
    with pytest.raises(CommandError, match="No user 'nobody'"):
        call_command("delete_user", "nobody", "--yes")
    benchmark.description = "Kept by Zoë Quill."
    benchmark.save()

    call_command("delete_user", "zelda-q", "--dry-run", stdout=out)

    assert "benchmark Standard library: description" in out.getvalue()
    assert not User.objects.get(pk=zelda.pk).is_anonymised


# --- what is known of a person -------------------------------------------------------------


def known(user) -> dict[str, list[dict]]:
    packed = b"".join(export_person(user=user, actor=user))
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        return {
            name.removeprefix("known/").removesuffix(".jsonl"): [
                json.loads(line) for line in archive.read(name).splitlines()
            ]
            for name in archive.namelist()
            if name.endswith(".jsonl")
        }


def test_export_has_every_kind_and_no_secret(zelda, benchmark, owner):
    issued = create_api_token(user=zelda, name="at night", days=3)
    AccessLog.objects.create(username="zelda-q", path_info="/", ip_address="192.0.2.7")
    Judgment.objects.create(
        benchmark=benchmark, query=factories.query(benchmark, "q1"), docid="d1", kind="grade",
        grade=2, actor=zelda, client_id="00000000-0000-0000-0000-000000000001", purpose="gold",
    )  # fmt: skip
    people.change_blindness(membership=zelda.memberships.get(), is_lifted=True, actor=owner)
    AccessAttempt.objects.create(
        username="zelda-q", path_info="/", failures_since_start=1, ip_address="203.0.113.7",
        user_agent="Not Zoë's",
    )  # fmt: skip

    records = known(zelda)

    assert {"account", "memberships", "teams", "invitations", "tokens", "sign-ins", "events"} <= {
        *records
    }
    assert {"labels", "questions", "submissions", "runs", "uploads", "jobs"} <= {*records}
    assert records["account"][0]["email"] == zelda.email
    assert records["account"][0]["verified_email"] == zelda.email
    assert records["tokens"][0]["name"] == "at night"
    assert [row["address"] for row in records["sign-ins"]] == ["192.0.2.7", "203.0.113.0/24"]
    assert (records["labels"][0]["document"], records["labels"][0]["grade"]) == ("d1", 2)
    assert {event["by"] for event in records["events"]} == {"you", "somebody else"}
    text = json.dumps(records)
    for secret in (
        issued.secret,
        issued.token.secret_digest,
        zelda.password,
        "gold",
        "olga",
        "Not Zo",
    ):
        assert secret not in text


def test_export_has_their_words_and_settings_and_nobody_else_s(zelda, benchmark, owner):
    pool = making.pool(benchmark, {"q1": ["d1"]})
    Authenticator.objects.create(
        user=zelda, type="webauthn", data={"name": "my key", "credential": "sealed"}
    )
    PoolStart.objects.create(pool=pool, annotator=zelda, notice_at=factories.now())
    KeyMap.objects.create(annotator=zelda, bindings={"undo": ["u"]})
    KnownGrade.objects.create(
        entry=pool.entries.get(), purpose="gold", grade=1, explanation="it says so", set_by=zelda
    )
    Question.objects.create(
        entry=pool.entries.get(), slot=pool.slots.get(), asked_by=owner, client_id=uuid.uuid4(),
        text="olga asks", answer="it does", answered_by=zelda, answered_at=factories.now(),
    )  # fmt: skip
    factories.live_system(benchmark, zelda, description="mine, at night")
    factories.embedding_pair(benchmark, zelda, description="two of mine")
    factories.reported(benchmark, zelda)
    LogEntry.objects.create(user=zelda, action_flag=2, object_id="1", object_repr="olga")

    records = known(zelda)

    results = {kind: rows[0] for kind, rows in records.items() if rows}
    assert (results["factors"]["kind"], results["factors"]["name"]) == ("webauthn", "my key")
    assert results["pool-starts"]["pool"] == pool.name
    assert results["keys"]["bindings"] == {"undo": ["u"]}
    assert results["known-grades"] == {"pool": pool.name, "explanation": "it says so"}
    assert (results["questions"]["as"], results["questions"]["answer"]) == ("answerer", "it does")
    assert results["live-systems"]["description"] == "mine, at night"
    assert results["embedding-pairs"]["description"] == "two of mine"
    assert {"reported-scores", "staff-pages"} <= results.keys()
    for hidden in ("olga", "sealed", "gold"):
        assert hidden not in json.dumps(records)


def test_person_downloads_what_is_known_and_it_is_written_down(signed_in, zelda):
    answer = signed_in(zelda).post(reverse("account-export"))

    assert b"".join(answer.streaming_content)[:2] == b"PK"
    event = AuditEvent.objects.get(action="export-person")
    assert (event.actor, event.target) == (zelda, f"user {zelda.pk}")


def test_command_writes_the_export(zelda, tmp_path):
    call_command("export_user", "zelda-q", str(tmp_path / "known.zip"), stdout=io.StringIO())

    assert "known/labels.jsonl" in zipfile.ZipFile(tmp_path / "known.zip").namelist()
    assert stat.S_IMODE((tmp_path / "known.zip").stat().st_mode) == 0o600


def test_export_that_breaks_off_leaves_the_earlier_file_alone(zelda, tmp_path, monkeypatch):
    path = tmp_path / "exports" / "known.zip"
    path.parent.mkdir()
    path.write_bytes(b"of last week")

    def breaking_off(**asked):
        yield b"PK"
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr(export_user, "export_person", breaking_off)

    with pytest.raises(CommandError, match="No space left"):
        call_command("export_user", "zelda-q", str(path))
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == {
        "known.zip": b"of last week"
    }


def test_command_that_cannot_write_the_export_says_so(zelda, tmp_path):
    with pytest.raises(CommandError, match="Is a directory"):
        call_command("export_user", "zelda-q", str(tmp_path))
