"""Slices made by rules, by hand and from files; confirmed; registered."""

import pytest

from benchmarks_app import result_facts
from benchmarks_app.models import AuditEvent, Job, Slice
from benchmarks_app.slices.selectors import plan_for, slice_rows, slices_of
from benchmarks_app.slices.services import (
    changes,
    importing_slices,
    members,
    records,
    rules,
    slicing,
)
from benchmarks_app.slices.services.slicing import Wanted
from benchwright.errors import FileProblemsError
from benchwright.slices.errors import (
    ExpressionError,
    SliceAlreadyRegisteredError,
    SliceEmptyError,
    SliceHasSuggestionsError,
    SliceInUseError,
    SliceNameError,
    SliceRegisteredError,
    SliceRuleError,
    SliceTakenError,
    SliceTooSmallError,
    SliceWithoutRuleError,
)
from tests import factories

pytestmark = pytest.mark.django_db

SHORT = {"kind": "length", "to": 2}
QUESTIONS = {"kind": "informational"}
TEXTS = {"q1": "short", "q2": "two words", "q3": "how is this done", "q4": "why", "q5": "a b c d"}


@pytest.fixture
def benchmark():
    bench = factories.benchmark("bench")
    for qid, text in TEXTS.items():
        factories.query(bench, qid, text)
    return bench


@pytest.fixture
def olga(benchmark):
    return factories.member(benchmark, "olga", "owner")


def make(benchmark, olga, name="short", rule=SHORT, **more) -> Slice:
    return slicing.make_slice(benchmark=benchmark, wanted=Wanted(name, rule, **more), actor=olga)


def states(of: Slice) -> dict[str, str]:
    return dict(of.members.order_by("query__qid").values_list("query__qid", "state"))


def enough(of: Slice, smallest: int = 2) -> Slice:
    """The slice, with a minimum that a handful of queries reaches."""
    Slice.objects.filter(pk=of.pk).update(minimum=smallest)
    return of


# --- rules -----------------------------------------------------------------------------------


def test_a_fact_makes_members_with_their_reasons(benchmark, olga):
    item = make(benchmark, olga)

    assert states(item) == dict.fromkeys(["q1", "q2", "q4"], "member")
    assert item.members.get(query__qid="q2").reason == "length: 2 words"
    assert slices_of(benchmark) == {"short": ["q1", "q2", "q4"]}
    assert AuditEvent.objects.get(action="make-slice").target == "short"


def test_a_guess_makes_suggestions_that_are_no_members(benchmark, olga):
    item = make(benchmark, olga, "asking", QUESTIONS)

    assert states(item) == {"q3": "suggested", "q4": "suggested"}
    assert slices_of(benchmark) == {"asking": []}


def test_excluded_and_staged_queries_are_in_no_slice(benchmark, olga):
    benchmark.queries.filter(qid="q1").update(excluded_reason="straddles the cut")
    job = Job.objects.create(kind="x", title="x", benchmark=benchmark)
    benchmark.queries.filter(qid="q2").update(staged_by=job)

    assert states(make(benchmark, olga)) == {"q4": "member"}


def test_query_of_a_rule_that_somebody_adds_by_hand_stays_under_another_rule(benchmark, olga):
    item = make(benchmark, olga)
    members.add_queries(to=item, qids=["q1"], actor=olga)

    slicing.refresh_slice(of=item, rule={"kind": "length", "from": 4}, actor=olga)

    assert states(item) == dict.fromkeys(["q1", "q3", "q5"], "member")


def test_share_of_a_slice_is_of_the_queries_that_no_split_leaves_out(benchmark, olga):
    members.make_hand_slice(benchmark=benchmark, name="all of them", qids=[*TEXTS], actor=olga)
    benchmark.queries.filter(qid__in=["q1", "q2"]).update(excluded_reason="straddles the cut")

    (row,) = slice_rows(benchmark, has_density=False)

    assert (row.n_members, row.share) == (5, 1.0)


def test_a_rule_that_takes_nothing_is_refused_and_leaves_nothing(benchmark, olga):
    with pytest.raises(SliceEmptyError, match=r"none of the 5 queries\. No query's"):
        make(benchmark, olga, "tagged", {"kind": "tag", "key": "x", "value": "y"})

    assert not Slice.objects.exists()


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("", SliceNameError, "it is empty"),
        ("all", SliceNameError, "the word has a meaning of its own"),
        ("New", SliceNameError, "the word has a meaning of its own"),
        ("a/b", SliceNameError, "it holds '/'"),
        ("a\tb", SliceNameError, "it holds '\\t'"),
        ("#1", SliceNameError, "it begins with #"),
        ("x" * 121, SliceNameError, "it has 121 characters and may have 120"),
        ("short", SliceTakenError, "There is a slice 'short' already"),
    ],
)
def test_a_name_that_will_not_do_is_refused(benchmark, olga, name, error, words):
    make(benchmark, olga)

    with pytest.raises(error) as caught:
        make(benchmark, olga, name)

    assert words in str(caught.value)


@pytest.mark.parametrize("module", [slicing, members, changes])
def test_a_name_that_somebody_else_takes_at_this_moment_is_refused(
    benchmark, olga, monkeypatch, module
):
    first, name = make(benchmark, olga), "another"
    monkeypatch.setattr(module, "refuse_name", lambda *args, **options: first.name)
    acts = {
        slicing: lambda: make(benchmark, olga, name),
        members: lambda: members.make_hand_slice(
            benchmark=benchmark, name=name, qids=["q1"], actor=olga
        ),
        changes: lambda: changes.change_slice(
            of=factories.query_slice(benchmark, name), actor=olga, name="a", description=""
        ),
    }

    with pytest.raises(SliceTakenError, match="There is a slice 'short' already"):
        acts[module]()


def test_an_expression_may_name_another_slice(benchmark, olga):
    make(benchmark, olga)

    item = make(
        benchmark,
        olga,
        "short questions",
        {"kind": "expression", "expression": 'in slice short and text matches "why*"'},
    )

    assert states(item) == {"q4": "member"}


def test_a_rule_that_reads_texts_knows_grades_and_documents(olga):
    """A vocabulary gap needs the texts of relevant documents, an exact match their titles."""
    tiny = factories.tiny_benchmark()

    result = rules.applied_rule(tiny, {"kind": "semantic"})
    named = rules.applied_rule(tiny, {"kind": "exact_match"})

    assert result.notes == ()
    assert {reason.code for reason in result.reasons.values()} <= {"low-overlap"}
    assert {reason.code for reason in named.reasons.values()} <= {"title", "quoted"}


def test_relevant_counts_the_newest_qrels(benchmark, olga):
    factories.qrel_set(benchmark, {("q1", "d1"): 1, ("q1", "d2"): 2, ("q2", "d1"): 0})

    item = make(benchmark, olga, "many", {"kind": "expression", "expression": "RELEVANT >= 2"})
    none = make(benchmark, olga, "none", {"kind": "expression", "expression": "relevant = 0"})

    assert (states(item), states(none)) == ({"q1": "member"}, {"q2": "member"})


def test_bands_of_a_sample_are_cut_as_in_its_log(benchmark, olga, tmp_path, monkeypatch):
    """Of a hundred logged queries five are head: those asked more than 95 times."""
    import polars as pl

    from benchmarks_app.models import QuerySample

    log = factories.query_log(benchmark, "log")
    drawn = QuerySample.objects.create(log=log, seed=1, n_families=5, n_queries=5, created_by=olga)
    for place, query in enumerate(benchmark.queries.order_by("qid")):
        benchmark.queries.filter(pk=query.pk).update(sample=drawn, frequency=100 - place * 2)
    pl.DataFrame({"count": list(range(1, 101))}).write_parquet(tmp_path / "log.parquet")
    monkeypatch.setattr(
        "benchmarks_app.queries.selectors.log_path", lambda of: tmp_path / "log.parquet"
    )

    item = make(benchmark, olga, "head", {"kind": "frequency", "band": "head"})

    assert set(states(item)) == {"q1", "q2", "q3"}


def test_a_preview_makes_nothing(benchmark):
    result = rules.preview_rule(benchmark, QUESTIONS)

    assert (result.n_taken, result.n_queries, result.is_suggestion) == (2, 5, True)
    assert [query.qid for query, _ in result.rows] == ["q3", "q4"]
    assert not Slice.objects.exists()


def test_a_preview_of_no_rule_is_refused(benchmark):
    with pytest.raises(SliceRuleError, match="is no kind of rule"):
        rules.preview_rule(benchmark, {"kind": ["length"]})


def test_what_takes_long_is_done_by_a_job(benchmark, olga, monkeypatch, do_jobs):
    monkeypatch.setattr(slicing, "QUICK_QUERIES", 1)

    started = slicing.start_slice(benchmark=benchmark, wanted=Wanted("short", SHORT), actor=olga)
    (job,) = do_jobs()

    assert isinstance(started, Job)
    assert job.result["made"] == ["slice 'short' of 3 queries"]
    assert len(slices_of(benchmark)["short"]) == 3


def test_a_slice_that_is_deleted_before_its_rule_is_applied_again_is_left_alone(
    benchmark, olga, monkeypatch, do_jobs
):
    item = make(benchmark, olga)
    monkeypatch.setattr(slicing, "QUICK_QUERIES", 1)
    slicing.start_refresh(of=item, actor=olga)
    changes.delete_slice(of=item, actor=olga)

    (job,) = do_jobs()

    assert (job.state, job.error) == (Job.State.DONE, "")
    assert job.result["notes"] == ["Slice 'short' was deleted meanwhile."]


# --- again -----------------------------------------------------------------------------------


def test_applying_a_rule_again_follows_the_queries_and_keeps_what_people_said(benchmark, olga):
    item = make(benchmark, olga, "asking", QUESTIONS)
    rejected = item.members.get(query__qid="q4")
    members.decide_members(of=item, actor=olga, verdict="reject", members=[rejected.pk])
    benchmark.queries.filter(qid="q3").update(text="done")
    factories.query(benchmark, "q6", "which one")

    slicing.start_refresh(of=item, actor=olga)

    assert states(item) == {"q4": "rejected", "q6": "suggested"}


def test_another_rule_takes_other_queries(benchmark, olga):
    item = make(benchmark, olga)

    slicing.start_refresh(of=item, actor=olga, rule={"kind": "length", "from": 4})

    item.refresh_from_db()
    assert (item.rule, set(states(item))) == ({"kind": "length", "from": 4}, {"q3", "q5"})


def test_a_slice_is_no_part_of_its_own_rule(benchmark, olga):
    item = make(benchmark, olga)

    with pytest.raises(SliceRuleError, match="cannot be part of its own rule"):
        slicing.start_refresh(
            of=item, actor=olga, rule={"kind": "expression", "expression": "in slice short"}
        )


def test_a_slice_of_a_file_has_no_rule_to_apply(benchmark, olga):
    query_slice = factories.query_slice(benchmark, "given", kind=Slice.Kind.IMPORT)

    with pytest.raises(SliceWithoutRuleError, match="its queries came from a file"):
        slicing.start_refresh(of=query_slice, actor=olga)


# --- people ----------------------------------------------------------------------------------


def test_suggestions_are_confirmed_one_by_one_or_all(benchmark, olga):
    item = make(benchmark, olga, "asking", QUESTIONS)
    member = item.members.get(query__qid="q3").pk

    first = members.decide_members(of=item, actor=olga, verdict="confirm", members=[member])
    rest = members.decide_members(of=item, actor=olga, verdict="confirm")

    assert (first, rest) == (1, 1)
    assert slices_of(benchmark) == {"asking": ["q3", "q4"]}
    assert set(item.members.values_list("decided_by__username", flat=True)) == {"olga"}
    assert set(item.members.values_list("source", flat=True)) == {"rule"}


def test_a_row_of_another_slice_is_not_decided(benchmark, olga):
    item = make(benchmark, olga, "asking", QUESTIONS)
    other = make(benchmark, olga)

    n = members.decide_members(
        of=other, actor=olga, verdict="confirm", members=[item.members.first().pk]
    )

    assert (n, set(states(item).values())) == (0, {"suggested"})


def test_queries_are_added_by_hand(benchmark, olga):
    item = make(benchmark, olga, "asking", QUESTIONS)

    n = members.add_queries(to=item, qids=["q3", "q5"], actor=olga)

    assert n == 2
    assert states(item) == {"q3": "member", "q4": "suggested", "q5": "member"}


def test_queries_that_are_not_there_are_all_told(benchmark, olga):
    with pytest.raises(FileProblemsError) as caught:
        members.make_hand_slice(benchmark=benchmark, name="mine", qids=["q1", "x", "y"], actor=olga)

    assert [problem.line for problem in caught.value.problems] == [2, 3]
    assert not Slice.objects.filter(members__isnull=False).exists()


# --- registering -----------------------------------------------------------------------------


def test_registering_fixes_members_and_says_what_was_seen(benchmark, olga, monkeypatch):
    monkeypatch.setattr(result_facts, "COUNTERS", [lambda of: 3, lambda of: 4])
    decision = enough(make(benchmark, olga))

    fixed = changes.register_slice(of=decision, actor=olga)

    assert fixed.is_registered
    assert fixed.n_results_before == 7
    assert fixed.members_sha256 == records.members_digest(["q4", "q2", "q1"])
    assert fixed.registered_by == olga
    assert AuditEvent.objects.get(action="register-slice").detail["n_results_before"] == 7


def test_a_digest_is_that_of_the_ids_a_line_each():
    import hashlib

    assert records.members_digest(["b", "a"]) == hashlib.sha256(b"a\nb\n").hexdigest()


def test_a_slice_below_its_minimum_is_not_registered(benchmark, olga):
    item = make(benchmark, olga)

    with pytest.raises(SliceTooSmallError) as caught:
        changes.register_slice(of=item, actor=olga)

    assert "has 3 confirmed queries and needs 30" in str(caught.value)
    assert "add 27 more queries" in str(caught.value)


def test_a_slice_with_open_suggestions_is_not_registered(benchmark, olga):
    decision = enough(make(benchmark, olga, "asking", QUESTIONS), smallest=1)
    members.decide_members(
        of=decision, actor=olga, verdict="confirm", members=[decision.members.first().pk]
    )

    with pytest.raises(SliceHasSuggestionsError, match="has 1 suggestions that nobody"):
        changes.register_slice(of=decision, actor=olga)


def test_a_registered_slice_is_not_registered_again(benchmark, olga):
    decision = enough(make(benchmark, olga))
    changes.register_slice(of=decision, actor=olga)

    with pytest.raises(SliceAlreadyRegisteredError, match="is registered already, since"):
        changes.register_slice(of=decision, actor=olga)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda of, by: slicing.start_refresh(of=of, actor=by), "members"),
        (lambda of, by: slicing.start_refresh(of=of, actor=by, rule=QUESTIONS), "rule"),
        (lambda of, by: members.decide_members(of=of, actor=by, verdict="reject"), "members"),
        (lambda of, by: members.add_queries(to=of, qids=["q5"], actor=by), "members"),
        (
            lambda of, by: changes.change_slice(of=of, actor=by, name="other", description=""),
            "name",
        ),
        (
            lambda of, by: changes.change_slice(
                of=of, actor=by, name="short", description="", minimum=99
            ),
            "minimum",
        ),
        (lambda of, by: changes.delete_slice(of=of, actor=by), "members, name and existence"),
    ],
    ids=["refresh", "rule", "decide", "add", "rename", "minimum", "delete"],
)
def test_nothing_of_a_registered_slice_changes(benchmark, olga, change, what):
    decision = enough(make(benchmark, olga))
    changes.register_slice(of=decision, actor=olga)
    decision.refresh_from_db()
    before = states(decision)

    with pytest.raises(SliceRegisteredError) as caught:
        change(decision, olga)

    assert f"its {what} cannot change any more" in str(caught.value)
    decision.refresh_from_db()
    assert (decision.name, states(decision)) == ("short", before)


def test_the_description_of_a_registered_slice_can_change(benchmark, olga):
    decision = enough(make(benchmark, olga))
    changes.register_slice(of=decision, actor=olga)

    changes.change_slice(of=decision, actor=olga, name="short", description="said", minimum=2)

    assert Slice.objects.get().description == "said"


@pytest.mark.parametrize("change", ["rename", "delete"])
def test_a_slice_that_a_rule_names_stays_under_its_name(benchmark, olga, change):
    item = make(benchmark, olga)
    rule = {"kind": "expression", "expression": "not in slice short"}
    make(benchmark, olga, "long", rule)

    with pytest.raises(SliceInUseError, match="is named in the rule of 'long'"):
        if change == "delete":
            changes.delete_slice(of=item, actor=olga)
        else:
            changes.change_slice(of=item, actor=olga, name="brief", description="")


def test_an_expression_that_names_what_is_not_there_is_refused(benchmark, olga):
    with pytest.raises(ExpressionError, match="Column 10: there is no slice 'rare'"):
        make(benchmark, olga, "x", {"kind": "expression", "expression": "in slice rare"})


# --- files -----------------------------------------------------------------------------------


def imported(benchmark, olga, content: bytes) -> Job:
    from django.core.files.base import ContentFile

    from benchmarks_app.collections.services import uploading
    from benchmarks_app.jobs.services import jobs

    upload = uploading.receive_upload(
        benchmark=benchmark, owner=olga, file=ContentFile(content, name="slices.tsv")
    )
    arguments = importing_slices.import_arguments(upload)
    return jobs.run_here(benchmark=benchmark, user=olga, **arguments)


def test_a_file_makes_and_fills_slices_and_confirms_suggestions(benchmark, olga):
    make(benchmark, olga)
    make(benchmark, olga, "asking", QUESTIONS)

    lines = "Query_ID\tSlice\nq3\tshort\nq3\tlong ones\n# no\n\nq5\tlong ones\N{NO-BREAK SPACE}"
    job = imported(benchmark, olga, f"{lines}\nq4\tasking".encode())

    assert job.result["made"] == ["3 slices with 4 queries in all"]
    assert slices_of(benchmark) == {
        "asking": ["q4"],
        "long ones": ["q3", "q5"],
        "short": ["q1", "q2", "q3", "q4"],
    }
    assert Slice.objects.get(name="long ones").kind == "import"


def test_query_of_a_file_stays_when_the_rule_is_applied_again(benchmark, olga):
    item = make(benchmark, olga)
    rejected = item.members.get(query__qid="q4")
    members.decide_members(of=item, actor=olga, verdict="reject", members=[rejected.pk])
    imported(benchmark, olga, b"q4\tshort\nq5\tshort\n")

    slicing.start_refresh(of=item, actor=olga)

    assert slices_of(benchmark) == {"short": ["q1", "q2", "q4", "q5"]}
    assert not item.members.exclude(decided_by=None).exists()  # the file says so, and nobody else


def test_guesses_become_members_when_the_rule_is_a_fact(benchmark, olga):
    item = make(benchmark, olga, "asking", QUESTIONS)

    slicing.start_refresh(of=item, actor=olga, rule={"kind": "length", "to": 4})

    assert set(states(item).values()) == {"member"}


def test_reason_is_cut_to_the_room_there_is(benchmark, olga):
    benchmark.queries.update(metadata={"from": "x" * 300})

    item = make(benchmark, olga, "tagged", {"kind": "tag", "key": "from", "value": "x" * 300})

    assert {len(reason) for reason in item.members.values_list("reason", flat=True)} == {
        slicing.LONGEST_REASON
    }


def test_every_wrong_line_of_a_file_is_told_and_nothing_is_made(benchmark, olga):
    changes.register_slice(of=enough(make(benchmark, olga)), actor=olga)

    job = imported(benchmark, olga, b"q1\tnew\nq1\nx\tok\nq5\tshort\nq1\ta\tb\nq1\tall\nq2\tfine\n")

    assert job.state == Job.State.FAILED
    texts = {problem["line"]: problem["text"] for problem in job.problems}
    assert list(texts) == [1, 2, 3, 4, 5, 6]
    assert "has a meaning of its own" in texts[1]
    assert texts[2].startswith("1 column; expected 2")
    assert "query 'x' is not in the benchmark" in texts[3]
    assert "is registered" in texts[4]
    assert "3 columns; expected 2" in texts[5]
    assert set(slices_of(benchmark)) == {"short"}


def test_an_empty_file_of_slices_is_told(benchmark, olga):
    job = imported(benchmark, olga, b"query-id\tslice\n")

    assert job.error == "slices.tsv holds no slice; nothing was imported."


# --- what lists show -------------------------------------------------------------------------


def test_density_counts_the_judged_and_relevant_of_the_members(benchmark, olga):
    make(benchmark, olga)
    grades = {("q1", "d1"): 2, ("q1", "d2"): 0, ("q2", "d1"): 1, ("q3", "d1"): 3}
    factories.qrel_set(benchmark, {**grades, ("q4", "d1"): -1})

    (row,) = slice_rows(benchmark, has_density=True)

    assert (row.n_members, row.share) == (3, 0.6)
    assert row.judged_share == pytest.approx(2 / 3)
    assert (row.judged_per_query, row.relevant_per_query) == (1.0, pytest.approx(2 / 3))


def test_small_slices_get_a_plan_with_weights_that_keep_their_share(benchmark, olga):
    make(benchmark, olga)
    rows = slice_rows(benchmark, has_density=False)

    plan = plan_for(benchmark, rows)

    (addition,) = plan.additions
    assert addition.n_now + addition.n_to_add == addition.n_wanted == rows[0].reach.n_for_gate
    # 3 of 5 queries before: 60 % of the weight, also once there are many more of them.
    assert addition.weight_after * addition.n_wanted / plan.n_after == pytest.approx(0.6)
