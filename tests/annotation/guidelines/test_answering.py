"""An answered document goes back to who asked."""

import uuid
from datetime import timedelta

import pytest

from annotation.common.services import statements
from annotation.guidelines.services import answer_question
from annotation.judging.services.judging import ask_question
from annotation.models import Slot
from tests.annotation.making import claimed, pool

pytestmark = pytest.mark.django_db


def test_the_document_waits_and_comes_back_with_the_answer(benchmark, ada, bo, owner):
    small_pool = pool(benchmark, {"q1": ["d1", "d2"]})
    slot = claimed(small_pool, ada, n=1)[0]
    asked = ask_question(slot=slot, actor=ada, client_id=uuid.uuid4(), text="Does it count?")
    assert Slot.objects.get(pk=slot.pk).state == "aside"

    answer_question(question=asked, answer="It does.", actor=owner)

    back = Slot.objects.get(pk=slot.pk)
    assert (back.state, back.annotator, back.is_later) == ("claimed", ada, False)
    wait = back.lease_expires_at - statements.clock()
    assert timedelta(days=7) - timedelta(minutes=1) < wait <= timedelta(days=7)
    assert slot.pk not in {held.pk for held in claimed(small_pool, bo)}
