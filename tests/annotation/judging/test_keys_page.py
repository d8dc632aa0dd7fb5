"""My keys: chosen, refused where two actions want one, switched off."""

import re

import pytest

from annotation.judging.protocol.errors import KeysClashError
from annotation.judging.protocol.keys import ACTIONS
from annotation.judging.services.mapping_keys import save_key_map
from annotation.models import KeyMap
from tests.annotation.judging.test_judge_pages import page_of, script_of
from tests.annotation.making import pool

pytestmark = pytest.mark.django_db
URL = "/judge/keys/"


def usual(client) -> dict[str, str]:
    """What the form would send as it stands."""
    page = client.get(URL, {"usual": 1}).content.decode()
    chosen = re.compile(r'<select name="([\w-]+)".*?</select>', re.DOTALL)
    sent = {"is_on": "on"}
    for match in chosen.finditer(page):
        selected = re.search(r'value="([^"]*)" selected', match[0])
        sent[match[1]] = selected[1] if selected else ""
    return sent


@pytest.fixture
def client(benchmark, ada, signed_in):
    return signed_in(ada)


def test_the_page_lists_every_action_and_grade_with_its_keys(client):
    sent = usual(client)

    assert sent["undo"] == "KeyZ"
    assert (sent["grade-3"], sent["grade-3-also"]) == ("Digit3", "KeyF")
    assert {action.name for action in ACTIONS} <= set(sent)


def test_saving_what_is_usual_keeps_nothing(client, ada):
    assert client.post(URL, usual(client)).status_code == 302

    assert (KeyMap.objects.get().bindings, KeyMap.objects.get().annotator) == ({}, ada)


def test_an_own_key_reaches_the_labeling_page(benchmark, client):
    small_pool = pool(benchmark, {"q1": ["d1"]})

    client.post(URL, usual(client) | {"undo": "KeyU"})

    page = page_of(client, small_pool)
    assert script_of(page)["keys"]["bindings"]["undo"] == ["KeyU"]
    assert '<kbd data-code="KeyU">u</kbd>' in page
    assert KeyMap.objects.get().bindings == {"undo": ["KeyU"]}


def test_a_key_of_two_actions_is_refused_and_both_are_told(client):
    answer = client.post(URL, usual(client) | {"undo": "KeyL"})

    page = answer.content.decode()
    assert answer.status_code == 422
    assert "“l” is a key of “Put the document aside for later”, too" in page
    assert "“l” is a key of “Undo my last judgment" in page
    assert not KeyMap.objects.exists()


def test_the_key_of_a_grade_is_taken_with_shift_too(client):
    answer = client.post(URL, usual(client) | {"find": "", "grade-1": "Slash"})

    assert answer.status_code == 422
    assert "“?” is a key of" in answer.content.decode()


def test_a_grade_cannot_be_left_without_a_key(client):
    answer = client.post(URL, usual(client) | {"grade-1": ""})

    assert answer.status_code == 422
    assert "A grade needs a key." in answer.content.decode()


def test_keys_can_be_switched_off(benchmark, client):
    small_pool = pool(benchmark, {"q1": ["d1"]})
    sent = usual(client)
    del sent["is_on"]

    client.post(f"{URL}?pool={small_pool.pk}", sent)

    page = page_of(client, small_pool)
    assert script_of(page)["keys"]["is_on"] is False
    assert "Keys are switched off." in page
    assert 'data-of="undo"' not in page


def test_a_service_refuses_a_clash_too(ada):
    with pytest.raises(KeysClashError, match="“z” would do two things: “Write a note"):
        save_key_map(annotator=ada, actions=list(ACTIONS), chosen={"note": ["KeyZ"]})
