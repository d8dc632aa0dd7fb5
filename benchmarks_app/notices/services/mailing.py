"""Mails about what happened, in English as every mail; each has a link that stops them."""

from datetime import timedelta

from django.conf import settings
from django.core import signing
from django.core.mail import EmailMessage
from django.db import transaction
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation

from benchmarks_app.models import MailChoice, Notice, User
from benchmarks_app.models.notices import Event
from benchmarks_app.notices.errors import StopLinkError
from benchmarks_app.site_path import whole_address

SALT = "benchmarks_app.notices.stop"
# The stretch in which mails to one person are counted.
MAIL_PAUSE = timedelta(hours=1)


def stop_token(person: User, event: str) -> str:
    """What stops mails of one kind for one person, for whoever has the mail."""
    return signing.dumps([person.pk, event], salt=SALT)


def send_mail_of(notice: Notice, person: User) -> None:
    """Mail somebody a notice: what happened, and where; nothing that its page tells."""
    stop = whole_address(reverse("mail-stop", args=[stop_token(person, notice.event)]))
    context = {
        "notice": notice,
        "what": Event(notice.event).label,
        "benchmark": notice.benchmark,
        "number": next(iter(notice.about.values()), ""),
        "link": f"{settings.SITE_URL}{notice.path}",
        "stop": stop,
        "account": whole_address(reverse("account-detail")),
    }
    with translation.override(settings.LANGUAGE_CODE):
        subject = render_to_string("benchmarks_app/notices/_mail_subject.txt", context)
        text = render_to_string("benchmarks_app/notices/_mail.txt", context)
    # RFC 8058: mail programs stop it with one POST, without anybody signing in.
    headers = {
        "List-Unsubscribe": f"<{stop}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "Auto-Submitted": "auto-generated",
        "Message-ID": f"<{notice.key}.{person.pk}@benchwright.invalid>",
    }
    # Names may hold line breaks, and a subject none.
    EmailMessage(" ".join(subject.split()), text, to=[person.email], headers=headers).send()


def stopped_by(token: str) -> tuple[int, Event]:
    """Whose mails of which kind a link stops.

    Raises
    ------
    StopLinkError
        If it is none of this site's.
    """
    try:
        person, event = signing.loads(token, salt=SALT)
        return int(person), Event(event)
    except (signing.BadSignature, ValueError, TypeError) as error:
        raise StopLinkError from error


def stop_mails(token: str) -> Event:
    """Stop them; doing it again changes nothing. Raises as `stopped_by`."""
    person, event = stopped_by(token)
    MailChoice.objects.filter(person=person, event=event).delete()
    return event


@transaction.atomic
def choose_mails(*, person: User, events: list[str]) -> None:
    """Have somebody mailed of these events, and of no others."""
    person.mail_choices.exclude(event__in=events).delete()
    MailChoice.objects.bulk_create(
        [MailChoice(person=person, event=event) for event in events], ignore_conflicts=True
    )
