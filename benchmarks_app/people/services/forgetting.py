"""Deleting a person: names go from wherever they are written, and what was judged stays.

The row of the account stays under a pseudonym, because the ledger of judgments refers to it: all
labels, and every number that is made of them, are what they were.
"""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email import message_from_bytes, policy
from functools import partial
from pathlib import Path
from typing import Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.apps import apps
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import IntegrityError, models, transaction
from django.db.models import Q
from django.db.models.functions import Cast

from benchmarks_app import files
from benchmarks_app.charts.drawing import drop_pictures
from benchmarks_app.collections.services.uploading import safe_name
from benchmarks_app.common.selectors.people import PERSON, events_of, named
from benchmarks_app.common.services import audit
from benchmarks_app.errors import LastManagerError, LastOwnerError, ManagerNeededError
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import (
    AuditEvent,
    Benchmark,
    Forgetting,
    Invitation,
    Job,
    Release,
    Role,
    Run,
    Team,
    Upload,
    User,
)
from benchmarks_app.models.audit import SIGN_INS
from benchmarks_app.people.services import people, teams
from benchmarks_app.people.services.freed_pages import start_erasing
from benchmarks_app.permissions import KEEPERS, is_site_manager
from benchmarks_app.person_records import CHUNK, LASTING, RUN_FOLLOWERS, WRITTEN
from benchmarks_app.sessions import SessionStore
from benchmarks_app.store import file_store
from benchwright.texts.names import Names

ACTION = "user-delete"
PREFIX = "person"
# The apps whose rows of a person are work that stays; of others (second factors, …) all go.
OURS = ("benchmarks_app", "annotation", "scoring", "admin")
# Between the messages of one of Django's mail files.
MAIL_RULE = b"\n" + b"-" * 79 + b"\n"
# What of a release's files is made for people to read; its queries and grades name nobody.
READ_BY_PEOPLE = (".md", ".json", ".bib", ".cff", ".txt")
MOST_BYTES_READ = 2**22
Reach = Callable[[type[models.Model]], models.QuerySet]


@dataclass(frozen=True)
class Forgotten:
    """What became of a person: the new name, how many texts were changed, what still names them."""

    pseudonym: str
    n_texts: int
    lasting: list[str]
    tables: frozenset[str]


# --- asking --------------------------------------------------------------------------------


def names_of(user: User) -> Names:
    return Names.of(
        username=user.username, email=user.email, first=user.first_name, last=user.last_name
    )


def refuse_deletion(*, user: User, actor: User | None) -> None:
    """Refuse to delete whom a benchmark or the site cannot do without.

    Raises
    ------
    LastOwnerError, LastManagerError, ManagerNeededError
        If they are the only owner of a benchmark, the only superuser, or above the actor.
    """
    if user.is_superuser and actor is not None and not actor.is_superuser:
        raise ManagerNeededError
    owned = user.memberships.filter(role=Role.OWNER).select_related("benchmark")
    alone = [
        membership.benchmark
        for membership in owned.order_by("benchmark__name")
        if not people.other_owners(membership).exists()
    ]
    if alone:
        raise LastOwnerError(person=user, benchmark=" and ".join(map(str, alone)))
    superusers = User.objects.filter(is_superuser=True, is_active=True)
    if user.is_superuser and user.is_active and not superusers.exclude(pk=user.pk).exists():
        raise LastManagerError(person=user)


def lasting_places(names: Names, *, seen_by: User | None) -> list[str]:
    """What names somebody and never changes: texts of benchmarks, verdicts, files of releases.

    Who does not manage the site is told of benchmarks and releases that they see, and of more
    where they keep the benchmark: people choose their names, and a name of common words would
    find them in what is private. `None` is told all.
    """
    visible = own_benchmarks = Benchmark.objects.all()
    if seen_by is not None and not is_site_manager(seen_by):
        visible = visible.visible_to(seen_by)
        own_benchmarks = visible.filter(memberships__user=seen_by, memberships__role__in=KEEPERS)
    places = []
    for model, (of_benchmark, fields) in LASTING.items():
        visible_rows = model._base_manager.filter(
            **{f"{of_benchmark}__in": visible if model is Benchmark else own_benchmarks}
        )
        for field in fields:
            rows = [key for key, value in _naming(everywhere(model), field, names)]
            for row in visible_rows.filter(pk__in=rows):
                places.append(f"{model._meta.verbose_name} {row}: {field}")
    released = Release.objects.published().filter(benchmark__in=visible).exclude(folder="")
    for release in released.select_related("benchmark").iterator():
        for file in release.manifest["files"]:
            if file.endswith(READ_BY_PEOPLE) and names.are_in(_content(release, file)):
                places.append(f"release {release}: {file}")
    return sorted(set(places))


def _content(release: Release, file: str) -> str:
    try:
        with file_store().opened(f"{release.folder}/{file}") as content:
            return content.read(MOST_BYTES_READ).decode(errors="replace")
    except FileNotFoundError:
        return ""


# --- deleting ------------------------------------------------------------------------------


@transaction.atomic
def delete_person(*, user: User, actor: User | None, is_erased_later: bool = True) -> Forgotten:
    """Forget who somebody was, and keep what they judged; doing it again changes nothing.

    Names, address, password, memberships, teams, tokens, second factors, sessions and records of
    sign-ins go. In what people wrote a pseudonym takes the name's place. With `is_erased_later` a
    job overwrites the database's freed bytes; without, the caller does (`erase_freed_pages`).

    Raises
    ------
    LastOwnerError, LastManagerError, ManagerNeededError
        If they are the only owner of a benchmark, the only superuser, or above the actor.
    """
    user = User.objects.select_for_update().get(pk=user.pk)
    if user.is_anonymised:
        return Forgotten(user.username, 0, [], frozenset())
    refuse_deletion(user=user, actor=actor)
    names, pseudonym = names_of(user), _new_pseudonym()
    lasting = lasting_places(names, seen_by=actor)  # while they are a member of what they see
    reach = reach_of(user, actor)
    _begin_jobs_anew(user, names, reach)
    tables = _delete_belongings(user, actor)
    _close_account(user, pseudonym)
    _rename_uploads(names, pseudonym, reach)
    runs = dict(_naming(reach(Run), "name", names))
    n_texts = 0
    for model, fields in WRITTEN.items():
        n = sum(_rewrite(reach(model), field, names, pseudonym) for field in fields)
        tables |= {model._meta.db_table} if n else set()
        n_texts += n
    for follow in RUN_FOLLOWERS:
        tables |= follow(runs)
    transaction.on_commit(drop_pictures)
    audit.record(actor=None if actor == user else actor, action=ACTION, target=named(user.pk))
    forgotten = Forgotten(pseudonym, n_texts, lasting, frozenset(tables))
    if is_erased_later:
        start_erasing(tables=forgotten.tables, user=None if actor == user else actor)
    _forget_mail(names)  # last: no error before it can bring mails back
    return forgotten


def _new_pseudonym() -> str:
    """A user name that tells nothing; longer where the short ones are taken."""
    for n_bytes in (2, 2, 2, 3, 4, 8):
        name = f"{PREFIX}-{secrets.token_hex(n_bytes)}"
        if not User.objects.filter(username=name).exists():
            break
    return name


def _begin_jobs_anew(user: User, names: Names, reach: Reach) -> None:
    """A job at work knows names as they were when it began: it writes no more, and begins anew."""
    running = Job.objects.filter(state=Job.State.RUNNING)
    of_reach = reach(Job).filter(state=Job.State.RUNNING)
    fields = ("title", "parameters")
    keys = [key for field in fields for key, _ in _naming(of_reach, field, names)]
    for job in running.filter(Q(created_by=user) | Q(pk__in=keys)):
        running.filter(pk=job.pk).update(
            state=Job.State.QUEUED, token=None, message="starting again"
        )
        transaction.on_commit(partial(jobs.send, job))


def _delete_belongings(user: User, actor: User | None) -> set[str]:
    """Delete the rows that are the person's own, and no work; returns the tables they were in."""
    for membership in user.memberships.select_related("benchmark"):
        people.remove_member(membership=membership, actor=actor)
    people.revoke_open(user.invitations_made.all(), actor=actor)
    user.invitations_made.update(note="")
    user.invitations_accepted.update(note="", email="")
    if user.email:
        bound = Invitation.objects.filter(email__iexact=user.email)
        # Anybody may say that an address is theirs: what is offered to it stays as it is.
        bound.open().update(email=Invitation.sealed(user.email))
        bound.update(note="", email="")
    for team in user.teams.all():
        teams.leave_team(team=team, user=user)
    user.groups.clear()
    user.user_permissions.clear()
    tables = {Invitation._meta.db_table, User._meta.db_table}
    for rows in _rows_that_go(user):
        tables.add(rows.model._meta.db_table)
        rows.delete()
    return tables


def _rows_that_go(user: User) -> Iterator[models.QuerySet]:
    condition = Q()
    for name in names_of(user).called:
        condition |= Q(username__iexact=name)
    others = User.objects.exclude(pk=user.pk).values("username")
    for attempts in (AccessAttempt, AccessFailureLog, AccessLog):
        yield attempts.objects.filter(condition).exclude(username__in=others)
    yield events_of(user).filter(action__in=SIGN_INS)
    for relation in User._meta.related_objects:
        model = relation.related_model
        is_foreign = model._meta.app_label not in OURS
        is_own = relation.on_delete is models.CASCADE and model._meta.app_label != "admin"
        if not relation.many_to_many and (is_own or is_foreign):
            yield model._base_manager.filter(**{relation.field.name: user.pk})
    yield Session.objects.filter(pk__in=list(_sessions_of(user)))
    # Tables that know people by their address alone, of apps that are not ours.
    for model in apps.get_models():
        fields = {field.name for field in model._meta.concrete_fields}
        if user.email and "email" in fields and model._meta.app_label not in OURS:
            yield model._base_manager.filter(email__iexact=user.email)


def _sessions_of(user: User) -> Iterator[str]:
    for row in Session.objects.iterator():
        if SessionStore().decode(row.session_data).get("_auth_user_id") == str(user.pk):
            yield row.pk


def _close_account(user: User, pseudonym: str) -> None:
    user.username = pseudonym
    user.first_name = user.last_name = user.email = user.language = ""
    user.is_active = user.is_staff = user.is_superuser = False
    user.is_anonymised = True
    user.last_login = None
    user.set_unusable_password()  # ends every session of the account as well
    user.save()


# --- texts ---------------------------------------------------------------------------------


def everywhere(model: type[models.Model]) -> models.QuerySet:
    return model._base_manager.all()


def reach_of(user: User, actor: User | None) -> Reach:
    """The rows of a model in which a name is taken for the person's.

    Anybody may call themselves anything, such as “the run”. Who deletes themselves changes their
    own rows and those of benchmarks they worked in; elsewhere it is for managers of the site.
    """
    if actor != user:
        return everywhere
    events = AuditEvent.objects.filter(actor=user).exclude(benchmark=None)
    worked_in = {*user.memberships.values_list("benchmark", flat=True)}
    worked_in |= {*events.values_list("benchmark", flat=True)}
    their_teams = [team.pk for team in user.teams.all()]

    def rows_of(model: type[models.Model]) -> models.QuerySet:
        foreign = [field for field in model._meta.concrete_fields if field.related_model is User]
        theirs = Q(*[(field.name, user.pk) for field in foreign], _connector=Q.OR)
        if model is AuditEvent:
            theirs |= Q(target=named(user.pk))
        elif model is Team:
            theirs = Q(pk__in=their_teams)
        elif way := way_to(Benchmark, model):
            theirs |= Q((f"{way}__in", worked_in))
        elif not foreign:
            return everywhere(model)  # the site's own, written by no person
        return everywhere(model).filter(theirs)

    return rows_of


def way_to(target: type[models.Model], model: type[models.Model]) -> str:
    """The shortest way by foreign keys from rows of a model, or "" if there is none."""
    ways: dict[Any, str] = {model: ""}
    for source in (at_work := [model]):
        for field in source._meta.concrete_fields:
            if isinstance(field, models.ForeignKey) and field.related_model not in ways:
                way = ways[field.related_model] = f"{ways[source]}__{field.name}".removeprefix("__")
                if field.related_model is target:
                    return way
                at_work.append(field.related_model)
    return ""


def _naming(rows: models.QuerySet, field: str, names: Names) -> Iterator[tuple[int, Any]]:
    condition = Q()
    for fragment in names.fragments:
        condition |= Q(as_text__icontains=fragment)
    as_text = Cast(field, models.TextField())
    rows_named = rows.annotate(as_text=as_text).filter(condition)
    for key, value in list(rows_named.values_list("pk", field).iterator(chunk_size=CHUNK)):
        if names.are_in(value):
            yield key, value


def _rewrite(rows: models.QuerySet, field: str, names: Names, pseudonym: str) -> int:
    """Write the pseudonym where a field names the person; returns in how many rows."""
    longest = rows.model._meta.get_field(field).max_length
    n = 0
    for key, value in _naming(rows, field, names):
        if rows.model is AuditEvent and PERSON.fullmatch(str(value)):
            continue  # a number names somebody here, whoever was called “user”
        replacement = names.replaced(value, pseudonym)
        replacement = replacement[:longest] if isinstance(replacement, str) else replacement
        row = rows.model._base_manager.filter(pk=key)
        try:
            with transaction.atomic(), _forgetting():
                row.update(**{field: replacement})
        except IntegrityError:  # another has that name now: `Zelda eval` beside `zelda eval`
            end = f"-{secrets.token_hex(2)}"
            length = longest - len(end) if longest else None
            with _forgetting():
                row.update(**{field: f"{replacement[:length]}{end}"})
        n += 1
    return n


class _forgetting:
    """While in it, the triggers let names be taken out of what is append-only."""

    def __enter__(self) -> None:
        self.row = Forgetting.objects.create()

    def __exit__(self, *error: object) -> None:
        if error[0] is None:
            self.row.delete()


def _rename_uploads(names: Names, pseudonym: str, reach: Reach) -> None:
    """Give files a name without the person's; their bytes stay, and with them their digest."""
    upload_pks = {
        key for field in ("name", "stored") for key, _ in _naming(reach(Upload), field, names)
    }
    files_of = Upload.objects.filter(pk__in=upload_pks).values_list("stored", "name")
    for stored, name in dict(files_of).items():
        folder = stored.rpartition("/")[0]
        renamed = f"{folder}/{safe_name(names.replaced(name, pseudonym))}"
        if file_store().exists(stored):
            file_store().copy(stored, renamed)
            transaction.on_commit(partial(files.remove, stored))
        Upload.objects.filter(stored=stored).update(stored=renamed)


def _forget_mail(names: Names) -> None:
    """Take out of the operator's folder the mails that are to the person, or name them."""
    for file in Path(settings.EMAIL_FILE_PATH).glob("*.log"):
        messages = file.read_bytes().split(MAIL_RULE)
        kept_messages = [message for message in messages if not names.are_in(_mail_text(message))]
        if len(kept_messages) == len(messages):
            continue
        if any(message.strip() for message in kept_messages):
            file.write_bytes(MAIL_RULE.join(kept_messages))
        else:
            file.unlink()


def _mail_text(content: bytes) -> str:
    """What a mail says, with its headers decoded."""
    mail = message_from_bytes(content, policy=policy.default)
    body = mail.get_body(("plain", "html"))
    headers = "\n".join(f"{name}: {value}" for name, value in mail.items())
    return f"{headers}\n{body.get_content() if body else ''}"
