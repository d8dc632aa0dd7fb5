"""A person whose name is all over a site; run inside of it."""

import secrets

from axes.models import AccessAttempt, AccessLog
from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.db import connection

from annotation.models import Judgment
from benchmarks_app.common.services import audit
from benchmarks_app.models import AuditEvent, Invitation, Job, Role, Team, User
from benchmarks_app.people.services import people
from tests import factories

NAME, EMAIL, FIRST, LAST = "zelda-quill", "zelda.quill@post.example", "Zoë", "Quillfeather"


def name_everywhere() -> None:
    """An annotator, named in rows of all kinds, in rows that were changed, and in rows deleted."""
    bench = factories.benchmark("bench")
    owner = factories.member(bench, "olga", "owner")
    zelda = User.objects.create_user(
        NAME, EMAIL, "a long password", first_name=FIRST, last_name=LAST
    )
    people.add_member(benchmark=bench, user=zelda, role=Role.ANNOTATOR, actor=owner)
    people.invite(benchmark=bench, role=Role.VIEWER, actor=owner, days=3, note=NAME, email=EMAIL)
    Team.objects.create(name=f"{FIRST} {LAST} and friends").members.add(zelda, owner)
    audit.record(actor=zelda, action="import", target=f"{NAME}.csv", said=[f"{FIRST} {LAST}"])
    Job.objects.create(kind="x", title=f"by {NAME}", parameters={NAME: EMAIL}, state="done")
    AccessLog.objects.create(username=NAME, ip_address="192.0.2.7", user_agent="a", path_info="/")
    AccessAttempt.objects.create(username=NAME, user_agent="a", path_info="/", get_data="",
                                 post_data=f"username={NAME}", failures_since_start=1)  # fmt: skip
    query = factories.query(bench, "q1")
    for number in range(200):
        Judgment.objects.create(
            benchmark=bench, query=query, docid=f"d{number}", kind="grade", grade=1, actor=zelda,
            client_id=f"00000000-0000-0000-0000-{number:012}",
            note=f"{NAME} says {secrets.token_hex(40)}" if number % 2 else "",
        )  # fmt: skip
    session = SessionStore()
    session["_auth_user_id"] = str(zelda.pk)
    session.save()
    folder = settings.EMAIL_FILE_PATH
    (folder / "1.log").write_text(f"To: {EMAIL}\nSubject: x\n\nhello\n" + "-" * 79 + "\n")
    (folder / "2.log").write_text("To: olga@example.org\nSubject: x\n\nhello\n" + "-" * 79 + "\n")
    _leave_traces(zelda)


def _leave_traces(zelda: User) -> None:
    """As a site did that did not overwrite what it deleted."""
    if connection.vendor == "sqlite":
        connection.cursor().execute("PRAGMA secure_delete=OFF")
    noted = [Invitation(benchmark=zelda.memberships.get().benchmark, note=f"{NAME} {EMAIL} " * 3,
                        secret_digest=secrets.token_hex(32), created_by=zelda, role="viewer",
                        expires_at="2099-01-01T00:00Z")
             for _ in range(300)]  # fmt: skip
    Invitation.objects.bulk_create(noted)
    Invitation.objects.filter(note__startswith=NAME).exclude(email=EMAIL).delete()
    if connection.vendor == "postgresql":
        connection.cursor().execute("ANALYZE")  # as the server does by itself, sooner or later


def texts() -> list[str]:
    """What events and judgments of the site say now."""
    events = [f"{event.target} {event.detail}" for event in AuditEvent.objects.all()]
    return events + list(Judgment.objects.values_list("note", flat=True))


def table_files() -> list[str]:
    """Paths of all files of the database's tables and indexes, below the server's folder."""
    with connection.cursor() as cursor:
        cursor.execute("CHECKPOINT")
        cursor.execute("SHOW data_directory")
        (folder,) = cursor.fetchone()
        cursor.execute(
            "SELECT pg_relation_filepath(oid) FROM pg_class WHERE relkind IN ('r', 'i', 't') "
            "AND pg_relation_filepath(oid) IS NOT NULL"
        )
        return [f"{folder}/{path}" for (path,) in cursor.fetchall()]
