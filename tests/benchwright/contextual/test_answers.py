"""Reading answers: every verdict at its node, or words about what is wrong."""

import json

import pytest

from benchwright.contextual.answers import reason_of, verdicts_of
from benchwright.judges.answers import UnusableAnswerError
from tests.benchwright.contextual.scripted import answer

GOOD = answer(True, False)


def test_verdicts_stand_at_their_nodes_whatever_the_order_of_the_keys():
    shuffled = {"verdicts": dict(reversed(GOOD["verdicts"].items()))}

    verdicts = verdicts_of(json.dumps(shuffled), 2)

    assert [(verdict.node, verdict.is_relevant, verdict.reason) for verdict in verdicts] == [
        (1, True, "because 1"),
        (2, False, "because 2"),
    ]


@pytest.mark.parametrize("word", ["Yes", " YES ", "yes"])
def test_case_and_space_around_a_word_do_not_matter(word):
    assert verdicts_of({"verdicts": {"1": {"verdict": word, "reason": ""}}}, 1)[0].is_relevant


def test_object_in_a_block_of_markdown_is_found():
    text = f"Of course:\n```json\n{json.dumps(GOOD, indent=1)}\n```\nAnything else?"

    assert verdicts_of(text, 2) == verdicts_of(GOOD, 2)


def test_list_of_verdicts_is_in_the_order_of_the_nodes():
    verdicts = [{"verdict": "no", "reason": "a"}, {"verdict": "yes", "reason": "b"}]

    result = verdicts_of({"verdicts": verdicts}, 2)

    assert [(verdict.node, verdict.is_relevant, verdict.reason) for verdict in result] == [
        (1, False, "a"),
        (2, True, "b"),
    ]


def one(verdict):
    return {"verdicts": {"1": verdict}}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (answer(True), "no verdict on node 2; expected exactly the nodes 1 to 2"),
        (answer(True, True, False), "verdicts on node 3, which there is not"),
        ({"verdicts": {"0": {}, "1": {}}}, "no verdict on node 2 and verdicts on node 0"),
        ([{"verdict": "yes"}, {"verdict": "no"}], "it is a list; expected a JSON object"),
        ({"verdicts": [{"verdict": "yes"}] * 3}, "a list of 3; expected one for each of the 2"),
        ({"verdicts": [{"verdict": "yes"}]}, "a list of 1; expected one for each of the 2 nodes"),
        ({"verdicts": ["yes", "no"]}, "node 1: a text; expected an object"),
        ({"verdicts": "yes"}, "'verdicts' is a text"),
        ({"result": {}}, "it has no 'verdicts'"),
        ("null", "it is null"),
        ("yes, no", "it is not JSON (Expecting value at character 1)"),
        ("", "it is not JSON"),
        pytest.param("[" * 100_000, "nested too deeply", id="deep"),
        ('{"verdicts": {"1": {}, "1": {}, "2": {}}}', "'1' comes more than once"),
    ],
)
def test_answer_that_does_not_fit_the_nodes_is_told(given, words):
    with pytest.raises(UnusableAnswerError) as refusal:
        verdicts_of(given if isinstance(given, str) else json.dumps(given), 2)

    assert words in str(refusal.value)


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ({"verdict": "maybe"}, "node 1: the verdict is 'maybe'; expected 'yes' or 'no'"),
        ({"verdict": True}, "the verdict is true or false"),
        ({"verdict": 1}, "the verdict is a number"),
        ({}, "the verdict is null"),
        ("yes", "node 1: a text; expected an object"),
        ({"verdict": "yes", "reason": 3}, "the reason is a number; expected a text"),
    ],
)
def test_word_that_is_no_verdict_is_told(verdict, words):
    with pytest.raises(UnusableAnswerError) as refusal:
        verdicts_of(one(verdict), 1)

    assert words in str(refusal.value)


def test_reason_is_a_text_that_says_something():
    assert reason_of('{"reason": " so "}') == "so"
    for nothing in ("{}", '{"reason": " "}', '{"reason": 3}'):
        with pytest.raises(UnusableAnswerError, match="it has no 'reason'"):
            reason_of(nothing)
