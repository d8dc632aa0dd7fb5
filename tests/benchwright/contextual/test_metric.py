"""The metric and `evaluate` as a person calls them."""

import asyncio
from base64 import b64encode
from pathlib import Path

import pytest

from benchwright.contextual.metric import ContextualPrecision, evaluate
from benchwright.contextual.summary import summarised
from benchwright.contextual.types import Case, Outcome
from benchwright.judges.course import Answer, Failure
from benchwright.judges.errors import CaseFormatError, ImageError, JudgeSettingError
from benchwright.judges.messages import Image
from tests.benchwright.contextual.scripted import AsyncScripted, Scripted, answer, case
from tests.benchwright.contextual.test_cases import png


@pytest.mark.parametrize("kind", [Scripted, AsyncScripted], ids=["sync", "async"])
def test_measured_metric_has_score_reason_success_and_verdicts(kind):
    metric = ContextualPrecision(model=kind(answer(False, True)))

    outcome = metric.measure(case(2))

    assert (metric.score, metric.reason, metric.success) == (0.5, "It is so.", True)
    assert metric.verdicts == outcome.verdicts
    assert metric.error is None


def test_error_of_one_case_leaves_the_next_as_it_is():
    judge = Scripted(ValueError("once"), answer(True, False), reason="Fine.")
    metric = ContextualPrecision(model=judge)

    metric.measure(case(2))
    assert (metric.score, metric.success, metric.reason) == (None, None, None)
    assert "raised ValueError: once" in metric.error

    metric.measure(case(2))
    assert (metric.score, metric.success, metric.reason, metric.error) == (1.0, True, "Fine.", None)


def test_strict_mode_overrides_the_threshold():
    metric = ContextualPrecision(0.2, model=Scripted(answer(False, True)), strict_mode=True)

    metric.measure(case(2))

    assert (metric.threshold, metric.score, metric.success) == (1.0, 0.0, False)


def test_reason_is_asked_for_only_where_it_is_wanted():
    judge = Scripted(answer(True, True))

    ContextualPrecision(model=judge, include_reason=False).measure(case(2))

    assert len(judge.asked) == 1


def test_verbose_mode_prints_verdicts_arithmetic_and_reason(capsys):
    judge = Scripted(answer(True, False, True))

    ContextualPrecision(model=judge, verbose_mode=True).measure(case(3, id="q7"))

    assert capsys.readouterr().out.splitlines() == [
        "Case q7",
        "  node 1  yes  because 1",
        "  node 2  no   because 2",
        "  node 3  yes  because 3",
        "  score  (1/1 + 2/3) / 2 = 0.8333333333333333",
        "  reason It is so.",
    ]


def test_measure_works_where_a_loop_is_running():
    """As in a notebook."""

    async def cell():
        metric = ContextualPrecision(model=AsyncScripted(answer(True)), include_reason=False)
        return metric.measure(case(1)), await ContextualPrecision(
            model=AsyncScripted(answer(True)), include_reason=False
        ).a_measure(case(1))

    for outcome in asyncio.run(cell()):
        assert outcome.score == 1.0


class Counting:
    model = "counting"

    def __init__(self):
        self.n_open = self.most = 0

    async def a_generate(self, messages, schema):
        self.n_open += 1
        self.most = max(self.most, self.n_open)
        await asyncio.sleep(0.001)
        self.n_open -= 1
        return answer("node text 1" in messages[1]["content"])


@pytest.mark.parametrize(("is_async", "most"), [(True, 5), (False, 1)])
def test_evaluate_has_as_many_under_way_as_asked_for(is_async, most):
    judge, seen = Counting(), []
    metric = ContextualPrecision(model=judge, include_reason=False, async_mode=is_async)
    cases = [case(1, id=str(number)) for number in range(20)]

    scores = evaluate(cases, [metric], concurrency=5, on_outcome=seen.append)

    assert judge.most == most
    assert len(seen) == 20
    assert [outcome.case_id for outcome in scores.outcomes[0]] == [str(n) for n in range(20)]
    assert scores.summary().rows[0].mean == 1.0


def test_evaluate_takes_several_metrics():
    cases = [case(2, id="a"), case(2, id="b")]
    lenient = ContextualPrecision(model=Scripted(*[answer(False, True)] * 2), include_reason=False)
    strict = ContextualPrecision(
        model=Scripted(*[answer(False, True)] * 2), include_reason=False, strict_mode=True
    )

    scores = evaluate(cases, [lenient, strict])

    assert [[outcome.score for outcome in of] for of in scores.outcomes] == [[0.5, 0.5], [0.0, 0.0]]


def test_model_by_name_is_asked_with_the_key_of_the_environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")

    metric = ContextualPrecision(model="gpt-x")

    assert metric.judge.endpoint.base_url == "https://api.openai.com/v1"
    assert "sk-1" not in repr(metric)


@pytest.mark.parametrize(
    "given",
    [{"input": 3}, {"expected_output": [1]}, {"retrieval_context": "text"}, {"actual_output": {}}],
)
def test_case_of_anything_but_texts_and_images_is_refused(given):
    with pytest.raises(CaseFormatError, match="expected"):
        case(1, **given)


def test_one_call_takes_paths_and_addresses_of_images(tmp_path):
    photo, linked = tmp_path / "tower.png", tmp_path / "link.png"
    photo.write_bytes(png())
    linked.symlink_to(photo)
    judge = Scripted(answer(True, False))
    metric = ContextualPrecision(model=judge, include_reason=False)

    outcome = metric.measure(
        Case(
            input=["Where does it stand?", photo],
            expected_output="In Paris.",
            retrieval_context=[["A map.", {"url": "https://example.org/map.png"}], linked],
        )
    )

    assert (outcome.score, outcome.error) == (1.0, None)
    (_, user) = judge.asked[0]
    sent = [part["image_url"]["url"] for part in user["content"] if part["type"] == "image_url"]
    data = f"data:image/png;base64,{b64encode(png()).decode()}"
    assert sent == [data, "https://example.org/map.png", data]


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (Path("/nowhere/tower.png"), "tower.png: it cannot be read"),
        (Path(__file__), "test_metric.py: it is no PNG"),
        ({"url": "file:///etc/passwd"}, "file:///etc/passwd"),
    ],
    ids=["no file", "no image", "no address"],
)
def test_path_or_address_of_no_image_is_refused_where_the_case_is_made(part, words):
    with pytest.raises(ImageError, match=words):
        Case("a", "b", [["text", part]])


def test_text_that_looks_like_a_path_stays_a_text(tmp_path):
    (tmp_path / "a.png").write_bytes(png())

    assert Case("a", "b", [str(tmp_path / "a.png")]).images() == []


def test_threshold_out_of_range_is_refused():
    with pytest.raises(JudgeSettingError):
        ContextualPrecision(threshold=2, model=Scripted())


def test_images_of_a_case_are_told_once_in_order():
    first, second = Image(b"1", "image/png"), Image(b"2", "image/png")

    assert Case([first], "x", [[second, first]]).images() == [first, second]


def test_summary_counts_failures_beside_the_mean_and_no_cost_of_the_cache():
    answers = (Answer("verdicts", "", "", "m", 10, 5, 0.5, attempts=2),)
    outcomes = [
        Outcome("a", 1.0, True, slices=("s",), answers=answers),
        Outcome("b", 0.5, False, slices=("s", "t"), answers=answers, is_cached=True),
        Outcome("c", error=Failure("judge-busy", "busy"), slices=("t",)),
    ]

    result = summarised(outcomes)

    assert [(row.name, row.n_cases, row.n_failed, row.mean) for row in result.rows] == [
        ("all", 3, 1, 0.75),
        ("s", 2, 0, 0.75),
        ("t", 2, 1, 0.5),
    ]
    assert result.rows[0].success == 0.5
    assert (result.n_cached, result.n_requests, result.cost) == (1, 2, 0.5)
    assert (result.tokens_in, result.tokens_out) == (10, 5)
