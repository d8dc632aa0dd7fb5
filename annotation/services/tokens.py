"""Signed slot tokens: what a labeling page holds instead of ids, bound to slot and annotator."""

from dataclasses import dataclass
from typing import Any

from django.core import signing
from django.http import Http404

from annotation.core.judging_errors import SlotOfAnotherError, SlotTokenError
from annotation.models import Slot
from benchmarks_app.models import User

SALT = "annotation.slot"


@dataclass(frozen=True)
class Shown:
    """What was on the screen when a judgment was given; goes on the event as it is."""

    content_hash: str = ""
    guideline_id: int | None = None
    shown_position: int | None = None
    dwell_ms: int | None = None

    def as_fields(self) -> dict[str, Any]:
        return vars(self)


def issue_token(*, slot: Slot, annotator: User, shown: Shown) -> str:
    """A token for one document on one person's page; it tells no rank, run or document id.

    Slots are numbered at random when a pool is built, so that even a decoded token says nothing.
    """
    payload = [slot.pk, annotator.pk, shown.content_hash, shown.guideline_id, shown.shown_position]
    return signing.dumps(payload, salt=SALT, compress=True)


def read_token(*, token: str, annotator: User) -> tuple[Slot, Shown]:
    """The slot of a token, whoever holds it now, and what was shown.

    Tokens do not age: a judgment that was kept for a day is still taken.

    Raises
    ------
    SlotTokenError
        If this site did not sign the token.
    SlotOfAnotherError
        If it was issued to another person.
    """
    try:
        slot_id, annotator_id, content_hash, guideline_id, position = signing.loads(
            token, salt=SALT
        )
    except (signing.BadSignature, ValueError) as error:
        raise SlotTokenError from error
    if annotator_id != annotator.pk:
        raise SlotOfAnotherError
    slot = Slot.objects.select_related("pool__benchmark", "entry__document").filter(pk=slot_id)
    found = slot.first()
    if found is None:
        raise Http404
    return found, Shown(content_hash, guideline_id, position)
