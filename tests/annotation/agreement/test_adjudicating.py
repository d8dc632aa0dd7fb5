"""The inbox and what comes of it."""

import re
import uuid
from dataclasses import replace

import pytest
from django.core.cache import cache
from django.urls import reverse

from annotation.agreement.selectors.adjudication import case_detail, inbox_of, open_cases
from annotation.agreement.services.adjudicating import adjudicate
from annotation.common.selectors.ledger import ledger_events
from annotation.common.selectors.policies import policy_of
from annotation.common.services.policies import set_policy
from annotation.judging.protocol.errors import ClientIdReusedError, GradeNotOnScaleError
from annotation.judging.services.claiming import waive_double_labels
from annotation.judging.services.judging import ask_question, record_cant_judge, undo_last
from annotation.judging.services.tokens import Shown
from annotation.models import Judgment, Pool, PoolEntry, Slot
from benchmarks_app.models import QueryFamily
from benchwright.qrels.errors import (
    NoDisagreementError,
    NoSuchPickError,
    OverrideReasonError,
    OwnLabelError,
    ThirdOpinionError,
)
from benchwright.qrels.rules import Derivation, Settings, rule_named
from tests import factories
from tests.annotation.making import claimed, guideline, judge, pool
from tests.open_pages import misnamed, opened
from tests.tokens import text_without_tokens

pytestmark = pytest.mark.django_db
RULE = rule_named("adjudicated-first")


@pytest.fixture(autouse=True)
def nothing_kept():
    cache.clear()


@pytest.fixture
def ann(benchmark):
    return factories.member(benchmark, "ann", "annotator")


def judge_as(person, disputed_pool, grades: dict[tuple[str, str], int]) -> None:
    """Grade documents, in whichever order they are handed out."""
    while slots := claimed(disputed_pool, person, n=20):
        for slot in slots:
            judge(slot, person, grades[slot.query.qid, slot.entry.document.docid])


@pytest.fixture
def disputed_pool(benchmark, ada, ann):
    """Two queries; d1 is agreed on, d2 and d3 are not, d4 nearly."""
    docids = ["d1", "d2", "d3", "d4"]
    created = pool(benchmark, {"q1": docids, "q2": docids}, overlap=2)
    for name in ("bm25", "dense", "splade"):
        run = benchmark.runs.create(
            name=name, owner=factories.user("keeper"), n_rows=1, n_queries=1, depth=1
        )
        created.pool_runs.create(run=run, depth=10)
    ranks = {
        "d2": {"bm25": 1, "dense": 1, "splade": 1},
        "d3": {"bm25": 1, "dense": 9},
    }
    for docid, contributors in ranks.items():
        PoolEntry.objects.filter(pool=created, document__docid=docid).update(
            contributors=contributors
        )
    first = {"d1": 3, "d2": 3, "d3": 0, "d4": 1}
    second = {"d1": 3, "d2": 0, "d3": 2, "d4": 2}
    for person, grade in ((ada, first), (ann, second)):
        judge_as(person, created, {(q, d): grade[d] for q in ("q1", "q2") for d in docids})
    return created


def word(benchmark, actor, docid="d3", qid="q1", **fields) -> Judgment:
    fields.setdefault("client_id", uuid.uuid4())
    query = benchmark.queries.get(qid=qid)
    return adjudicate(benchmark=benchmark, query=query, docid=docid, actor=actor, **fields)


def keys(cases):
    return [(case.qid, case.docid) for case in cases]


def as_now(benchmark) -> dict[tuple[str, str], int]:
    derivation = Derivation(RULE, Settings(unresolved="leave-out"))
    rows = derivation.of(ledger_events(benchmark, 10**9))
    return {(row.query, row.docid): row.grade for row in rows}


# --- the inbox ------------------------------------------------------------------------------------


def test_what_moves_runs_apart_comes_before_what_does_not(benchmark, disputed_pool, bo):
    inbox = inbox_of(benchmark, bo)

    # d2 is first in every run: whichever grade is right, they stay side by side.
    assert keys(inbox.cases) == [("q1", "d3"), ("q2", "d3"), ("q1", "d2"), ("q2", "d2")]
    effects = [case.effect for case in inbox.cases]
    assert effects[0] == effects[1] > 0
    assert effects[2] == effects[3] == 0
    assert inbox.cases[0].grades == (0, 2)
    assert inbox.mean_effect == pytest.approx(effects[0])
    assert not inbox.may_stop


def test_settled_are_those_whose_newest_word_asks_for_no_other_opinion(
    benchmark, disputed_pool, bo
):
    word(benchmark, bo, outcome="query_ambiguous")
    word(benchmark, bo, outcome="pick", grade=0)
    word(benchmark, bo, "d2", outcome="third_opinion")

    assert inbox_of(benchmark, bo).n_settled == 1


def test_of_equal_effects_the_grades_furthest_apart_come_first(benchmark, disputed_pool, bo, ann):
    """Every run has d2 and d4 first; of each the queries are in their order."""
    entries = PoolEntry.objects.filter(document__docid="d4")
    entries.update(contributors={"bm25": 1, "dense": 1, "splade": 1})
    set_policy(benchmark=benchmark, rule=RULE, settings=Settings(adjudicate_from=1), actor=ann)

    inbox = inbox_of(benchmark, bo)

    alike = [case for case in inbox.cases if not case.effect]
    assert [(case.qid, case.docid, case.apart) for case in alike] == [
        ("q1", "d2", 3),
        ("q2", "d2", 3),
        ("q1", "d4", 1),
        ("q2", "d4", 1),
    ]


def test_after_a_case_comes_the_one_below_and_after_the_last_the_first(
    benchmark, disputed_pool, bo
):
    inbox = inbox_of(benchmark, bo)
    first, second, third, last = inbox.cases

    def after(case):
        return inbox.after((case.query, case.docid))

    assert [after(case) for case in inbox.cases] == [second, third, last, first]
    assert inbox.after(None) == inbox.after((0, "settled")) == first
    alone = replace(inbox, cases=[first])
    assert alone.after((first.query, first.docid)) is None


def test_the_distance_is_the_policys(benchmark, owner, disputed_pool, bo):
    result = Settings(adjudicate_from=1)
    set_policy(benchmark=benchmark, rule=RULE, settings=result, actor=owner)

    assert ("q1", "d4") in keys(inbox_of(benchmark, bo).cases)
    assert len(inbox_of(benchmark, bo).cases) == 6


def test_ones_own_cases_are_somebody_elses(benchmark, disputed_pool, ada):
    inbox = inbox_of(benchmark, ada)

    assert (inbox.cases, inbox.n_own) == ([], 4)


def test_the_kept_inbox_learns_what_happened_since(benchmark, disputed_pool, bo, ada, ann):
    assert len(open_cases(benchmark)) == 4

    word(benchmark, bo, outcome="pick", grade=2)
    undo_last(pool=disputed_pool, actor=ada, client_id=uuid.uuid4())

    kept = keys(open_cases(benchmark))
    cache.clear()
    assert kept == keys(open_cases(benchmark))
    assert ("q1", "d3") not in kept
    assert len(kept) < 4


def test_three_labels_need_nobody(benchmark, disputed_pool, bo):
    word(benchmark, bo, outcome="third_opinion")
    third = factories.member(benchmark, "third", "annotator")

    assert inbox_of(benchmark, bo).n_waiting == 1
    judge_as(third, disputed_pool, {("q1", "d3"): 1})

    inbox = inbox_of(benchmark, bo)
    assert (inbox.n_waiting, len(inbox.cases)) == (0, 3)
    assert as_now(benchmark)["q1", "d3"] == 1


def test_a_third_person_who_cannot_judge_it_leaves_the_case_to_the_adjudicator(
    benchmark, disputed_pool, bo
):
    word(benchmark, bo, outcome="third_opinion")
    third = factories.member(benchmark, "third", "annotator")
    (slot,) = claimed(disputed_pool, third)

    record_cant_judge(
        slot=slot, actor=third, reason="Garbled", client_id=uuid.uuid4(), display=Shown()
    )

    inbox = inbox_of(benchmark, bo)
    assert (inbox.n_waiting, len(inbox.cases)) == (0, 4)


@pytest.mark.parametrize("purpose", ["gold", "practice", "repeat"])
def test_who_had_the_document_as_a_check_is_not_offered_its_case(
    benchmark, disputed_pool, bo, purpose
):
    entry = disputed_pool.entries.get(query__qid="q1", document__docid="d3")
    slot = Slot.objects.create(
        pool=disputed_pool, query=entry.query, entry=entry, kind=purpose, queue_position=0,
        annotator=bo, state="claimed", lease_expires_at=factories.now(),
    )  # fmt: skip
    judge(slot, bo, 2)

    inbox = inbox_of(benchmark, bo)

    assert (inbox.n_own, ("q1", "d3") in keys(inbox.cases)) == (1, False)
    with pytest.raises(OwnLabelError):
        word(benchmark, bo, outcome="pick", grade=2)


def test_who_could_not_judge_a_document_does_not_settle_it(benchmark, disputed_pool, bo, ada, ann):
    for person, grade in ((ada, 3), (ann, 0)):
        Judgment.objects.create(
            benchmark=benchmark, query=benchmark.queries.get(qid="q1"), docid="d9", kind="import",
            grade=grade, actor=person, client_id=uuid.uuid4(),
        )  # fmt: skip
    assert ("q1", "d9") in keys(inbox_of(benchmark, bo).cases)

    Judgment.objects.create(
        benchmark=benchmark, query=benchmark.queries.get(qid="q1"), docid="d9", kind="cant_judge",
        reason="Garbled", actor=bo, client_id=uuid.uuid4(),
    )  # fmt: skip

    assert ("q1", "d9") not in keys(inbox_of(benchmark, bo).cases)
    for person in (bo, ada):
        with pytest.raises(OwnLabelError):
            word(benchmark, person, "d9", outcome="pick", grade=3)


@pytest.mark.parametrize("how", ["closed", "waived"])
def test_a_case_whose_further_label_nobody_is_asked_for_is_open_again(
    benchmark, disputed_pool, bo, owner, how
):
    word(benchmark, bo, outcome="third_opinion")
    assert inbox_of(benchmark, bo).n_waiting == 1

    if how == "closed":
        Pool.objects.update(state=Pool.State.CLOSED)
    else:
        waive_double_labels(pool=disputed_pool, actor=owner)

    inbox = inbox_of(benchmark, bo)
    assert (inbox.n_waiting, len(inbox.cases)) == (0, 4)


# --- outcomes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"outcome": "pick", "grade": 2}, 2),
        ({"outcome": "override", "grade": 1, "reason": "Half of the answer"}, 1),
        ({"outcome": "third_opinion"}, None),
        ({"outcome": "query_ambiguous"}, None),
        ({"outcome": "guideline_unclear", "reason": "Say what counts as an answer"}, None),
    ],
)
def test_each_outcome_is_an_event_and_decides_the_grade(
    benchmark, disputed_pool, bo, words, expected
):
    assert ("q1", "d3") not in as_now(benchmark)

    event = word(benchmark, bo, **words)

    assert (event.kind, event.outcome, event.grade) == ("adjudicate", words["outcome"], expected)
    assert event.reason == words.get("reason", "")
    assert as_now(benchmark).get(("q1", "d3")) == expected
    assert ("q1", "d3") not in keys(inbox_of(benchmark, bo).cases)


def test_a_later_word_replaces_the_earlier(benchmark, disputed_pool, bo, maintainer):
    first = word(benchmark, bo, outcome="query_ambiguous")

    second = word(benchmark, maintainer, outcome="pick", grade=0)

    assert second.supersedes == first
    assert as_now(benchmark)["q1", "d3"] == 0


def test_the_same_word_again_changes_nothing(benchmark, disputed_pool, bo):
    fields = {"outcome": "pick", "grade": 2, "client_id": uuid.uuid4()}

    assert word(benchmark, bo, **fields) == word(benchmark, bo, **fields)

    for another in ({"grade": 0}, {"outcome": "override", "reason": "Sure"}, {"docid": "d2"}):
        with pytest.raises(ClientIdReusedError):
            word(benchmark, bo, **{**fields, **another})
    assert Judgment.objects.filter(kind="adjudicate").count() == 1


def test_a_long_reason_is_kept_whole(benchmark, disputed_pool, bo):
    long = "because " * 60

    event = word(benchmark, bo, outcome="pick", grade=2, reason=long)

    assert len(event.reason) == 200
    assert event.note == long.strip()


@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        ({"outcome": "pick", "grade": 1}, NoSuchPickError, "Nobody gave the grade 1"),
        ({"outcome": "override", "grade": 1, "reason": " "}, OverrideReasonError, "Say why"),
        ({"outcome": "override", "grade": 9, "reason": "x"}, GradeNotOnScaleError, "Grade 9"),
        ({"outcome": "pick"}, GradeNotOnScaleError, "Grade None"),
        ({"outcome": "pick", "grade": 1, "docid": "d9"}, NoDisagreementError, "not in the inbox"),
    ],
)
def test_words_that_make_no_sense_are_refused(benchmark, disputed_pool, bo, fields, error, words):
    with pytest.raises(error, match=words):
        word(benchmark, bo, **fields)
    assert not Judgment.objects.filter(kind="adjudicate").exists()


def test_nobody_settles_what_they_have_judged_even_if_they_took_it_back(
    benchmark, disputed_pool, ada
):
    last = Judgment.objects.filter(actor=ada).latest("pk")
    undo_last(pool=disputed_pool, actor=ada, client_id=uuid.uuid4())

    with pytest.raises(OwnLabelError, match="judged this document yourself"):
        word(benchmark, ada, last.docid, last.query.qid, outcome="query_ambiguous")


# --- asking another person ------------------------------------------------------------------------


def test_a_third_opinion_is_one_more_label_for_somebody_else(
    benchmark, disputed_pool, bo, ada, ann
):
    before = disputed_pool.n_wanted

    word(benchmark, bo, outcome="third_opinion")

    slot = Slot.objects.get(state="free")
    assert (slot.number, slot.kind) == (3, "label")
    assert slot.entry.document.docid == "d3"
    assert Pool.objects.get().n_wanted == before + 1
    assert claimed(disputed_pool, ada) == claimed(disputed_pool, ann) == []
    third = factories.member(benchmark, "third", "annotator")
    assert claimed(disputed_pool, third) == [slot]


def test_a_third_opinion_is_asked_for_in_the_newest_pool_that_holds_the_document(
    benchmark, disputed_pool, bo, ada
):
    newer = pool(benchmark, {"q1": ["d3"]})
    newer.slots.update(state="done", annotator=ada)
    pool(benchmark, {"q1": ["d1"]})

    word(benchmark, bo, outcome="third_opinion")

    slot = Slot.objects.get(state="free", entry__document__docid="d3")
    assert (slot.pool, slot.number) == (newer, 2)


def test_a_label_that_an_older_pool_waits_for_is_on_its_way(benchmark, disputed_pool, bo, ada):
    word(benchmark, bo, outcome="third_opinion")
    newer = pool(benchmark, {"q1": ["d3"]})
    newer.slots.update(state="done", annotator=ada)

    with pytest.raises(ThirdOpinionError, match="on its way already"):
        word(benchmark, bo, outcome="third_opinion")


def test_asking_twice_is_refused(benchmark, disputed_pool, bo, maintainer):
    word(benchmark, bo, outcome="third_opinion")

    with pytest.raises(ThirdOpinionError, match="on its way already"):
        word(benchmark, maintainer, outcome="third_opinion")


def test_a_label_that_was_set_aside_for_a_question_is_on_its_way(benchmark, disputed_pool, bo, ada):
    word(benchmark, bo, outcome="third_opinion")
    third = factories.member(benchmark, "third", "annotator")
    (slot,) = claimed(disputed_pool, third)
    ask_question(slot=slot, actor=third, client_id=uuid.uuid4(), text="What is it?")

    with pytest.raises(ThirdOpinionError, match="on its way already"):
        word(benchmark, bo, outcome="third_opinion")


def test_a_closed_pool_cannot_ask(benchmark, disputed_pool, bo):
    Pool.objects.update(state=Pool.State.CLOSED)

    with pytest.raises(ThirdOpinionError, match="Open its pool again"):
        word(benchmark, bo, outcome="third_opinion")


# --- pages ----------------------------------------------------------------------------------------


def url(benchmark, docid="d3", qid="q1"):
    query = benchmark.queries.get(qid=qid)
    return reverse("annotation:adjudicate-item", args=[benchmark.slug, query.pk, docid])


def hidden_fields(response) -> dict[str, str]:
    """What the form of a case sends beside what somebody chooses."""
    pattern = r'<input type="hidden" name="(client_id|decision)" value="([^"]*)"'
    return dict(re.findall(pattern, response.content.decode()))


def test_the_inbox_lists_cases_in_order(benchmark, disputed_pool, bo, signed_in):
    page = signed_in(bo).get(reverse("annotation:adjudicate", args=[benchmark.slug]))

    text = page.content.decode()
    assert text.index(url(benchmark, "d3")) < text.index(url(benchmark, "d2"))


def test_a_case_shows_what_was_said_and_not_by_whom(benchmark, disputed_pool, bo, signed_in):
    text = text_without_tokens(signed_in(bo).get(url(benchmark)))

    assert "Annotator A" in text
    assert "Annotator B" in text
    assert "Annotator C" not in text
    for hidden in ("ada", "ann@", ">ann<", "bm25", "dense", "splade"):
        assert hidden not in text


def test_the_guideline_of_a_case_is_read_as_annotators_read_it(
    benchmark, disputed_pool, bo, signed_in
):
    written = guideline(benchmark)
    written.text = "## Borders\n\n- **3** answers it."
    written.save()

    page = signed_in(bo).get(url(benchmark)).content.decode()

    assert "<strong>3</strong> answers it." in page
    assert "Guideline 1" in page
    assert "**" not in page


def test_settling_leads_to_the_next_case(benchmark, disputed_pool, bo, signed_in):
    client = signed_in(bo)

    response = client.post(url(benchmark), {"grade": "2", "client_id": uuid.uuid4()})

    assert response.status_code == 302
    assert response["Location"] == url(benchmark, "d3", "q2")
    event = Judgment.objects.get(kind="adjudicate")
    assert (event.outcome, event.grade, event.actor) == ("pick", 2, bo)


def test_the_last_case_leads_back_to_the_inbox(benchmark, disputed_pool, bo, signed_in):
    client = signed_in(bo)
    for qid, docid in (("q1", "d2"), ("q2", "d2"), ("q2", "d3")):
        word(benchmark, bo, docid, qid, outcome="query_ambiguous")

    response = client.post(url(benchmark), {"grade": "0", "client_id": uuid.uuid4()}, follow=True)

    assert response.redirect_chain == [
        (reverse("annotation:adjudicate", args=[benchmark.slug]), 302)
    ]
    assert "Nothing to settle" in response.content.decode()


def test_cases_that_wait_for_a_label_are_told_from_none(benchmark, disputed_pool, bo, signed_in):
    for qid, docid in (("q1", "d2"), ("q2", "d2"), ("q2", "d3"), ("q1", "d3")):
        word(benchmark, bo, docid, qid, outcome="third_opinion")

    page = signed_in(bo).get(reverse("annotation:adjudicate", args=[benchmark.slug]))

    assert "Nothing to settle yet" in page.content.decode()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "Choose a grade, or why there is none."),
        ({"grade": "1"}, "Nobody gave this grade: say why it is right."),
        ({"outcome": "shrug"}, "Choose a grade, or why there is none."),
    ],
)
def test_a_form_without_a_word_is_shown_again(
    benchmark, disputed_pool, bo, signed_in, fields, words
):
    response = signed_in(bo).post(url(benchmark), {**fields, "client_id": uuid.uuid4()})

    assert response.status_code == 422
    assert words in response.content.decode()
    assert not Judgment.objects.filter(kind="adjudicate").exists()


def test_each_field_of_a_case_has_what_describes_it(benchmark, disputed_pool, bo, signed_in):
    page = signed_in(bo).get(url(benchmark)).content.decode()

    assert "Needed for a grade that nobody gave" in page
    assert misnamed(page) == []


def test_an_adjudicator_sees_cases_and_no_other_grades(
    benchmark, disputed_pool, bo, owner, signed_in
):
    assert signed_in(bo).get(url(benchmark, "d1")).status_code == 404
    assert signed_in(owner).get(url(benchmark, "d1")).status_code == 200
    assert signed_in(owner).get(url(benchmark, "d9")).status_code == 404


def test_ones_own_word_is_there_to_be_changed_and_no_one_elses(
    benchmark, disputed_pool, bo, signed_in
):
    word(benchmark, bo, outcome="pick", grade=2)
    other = factories.member(benchmark, "cy", "adjudicator")

    page = signed_in(other).get(url(benchmark), follow=True)

    assert signed_in(bo).get(url(benchmark)).status_code == 200
    assert page.redirect_chain[0][0] == url(benchmark, "d3", qid="q2")
    assert "Somebody else has settled that document." in page.content.decode()


def test_what_an_adjudicator_chooses_after_another_settled_it_leads_on(
    benchmark, disputed_pool, bo, owner, signed_in
):
    word(benchmark, owner, outcome="pick", grade=2)
    choice = {"grade": "0", "client_id": uuid.uuid4(), "decision": ""}

    response = signed_in(bo).post(url(benchmark), choice, follow=True)

    assert response.redirect_chain[0][0] == url(benchmark, "d3", qid="q2")
    assert "Your choice was not recorded." in response.content.decode()
    assert Judgment.objects.get(kind="adjudicate").actor == owner


def test_what_another_settled_meanwhile_is_shown_before_a_keeper_replaces_it(
    benchmark, disputed_pool, bo, owner, signed_in
):
    client = signed_in(owner)
    before = hidden_fields(client.get(url(benchmark)))
    word(benchmark, bo, outcome="pick", grade=2)

    refused = client.post(url(benchmark), {**before, "grade": "0"})
    after = hidden_fields(refused)
    taken = client.post(url(benchmark), {**after, "grade": "0"})

    assert refused.status_code == 422
    assert "Somebody else has settled this document since you opened it." in (
        refused.content.decode()
    )
    assert taken.status_code == 302
    decision = case_detail(benchmark, benchmark.queries.get(qid="q1"), "d3").decision
    assert (decision.actor, decision.grade) == (owner, 0)


def test_a_person_who_judged_it_may_not_open_the_case_and_is_told_so(benchmark, bo, ann, signed_in):
    small_pool = pool(benchmark, {"q1": ["d3"]}, overlap=2)
    judge_as(bo, small_pool, {("q1", "d3"): 3})
    judge_as(ann, small_pool, {("q1", "d3"): 0})

    response = signed_in(bo).get(url(benchmark))
    page = signed_in(bo).get(reverse("annotation:adjudicate", args=[benchmark.slug]))

    assert response.status_code == 403
    assert "Nothing for you to settle" in page.content.decode()


def test_who_opens_a_case_of_a_test_query_is_recorded(benchmark, disputed_pool, bo, signed_in):
    client = signed_in(bo)
    QueryFamily.objects.update(split="train")
    client.get(url(benchmark))
    assert not benchmark.audit_events.filter(action="read-judgments").exists()

    QueryFamily.objects.update(split="test")
    client.get(url(benchmark))

    event = benchmark.audit_events.get(action="read-judgments")
    assert (event.actor, event.target) == (bo, "q1 d3")


def test_similar_cases_are_those_of_the_query_then_those_with_the_grades(
    benchmark, disputed_pool, bo
):
    word(benchmark, bo, "d3", "q2", outcome="pick", grade=2, reason="It answers")
    word(benchmark, bo, "d2", "q1", outcome="query_ambiguous")

    case = case_detail(benchmark, benchmark.queries.get(qid="q1"), "d3")

    assert [(d.event.query.qid, d.event.docid, d.grades) for d in case.similar] == [
        ("q1", "d2", (0, 3)),
        ("q2", "d3", (0, 2)),
    ]


def test_a_page_open_for_a_while_does_not_put_back_another_rule(
    benchmark, owner, disputed_pool, signed_in
):
    address = reverse("annotation:policy-edit", args=[benchmark.slug])
    initials = opened(signed_in(owner).get(address).content.decode())
    fields = {name.removeprefix("initial-"): value for name, value in initials.items()}
    settings = Settings(adjudicate_from=1, smoothing=0.5)
    set_policy(benchmark=benchmark, rule=rule_named("upper-median"), settings=settings, actor=owner)

    signed_in(owner).post(address, {**initials, **fields, "unresolved": "refuse"})

    policy = policy_of(benchmark)
    assert policy.rule.name == "upper-median"
    assert policy.settings == replace(settings, unresolved="refuse")


def test_the_policy_page_saves_what_it_says(benchmark, owner, disputed_pool, signed_in):
    address = reverse("annotation:policy-edit", args=[benchmark.slug])
    fields = {"rule": "upper-median", "adjudicate_from": "1", "unresolved": "refuse"}

    response = signed_in(owner).post(address, fields)

    assert response.status_code == 302
    policy = benchmark.aggregation_policy
    assert (policy.rule, policy.rule_version) == ("upper-median", 1)
    assert (policy.adjudicate_from, policy.unresolved) == (1, "refuse")
    assert (
        "does not read what is settled here"
        in (
            signed_in(owner).get(reverse("annotation:adjudicate", args=[benchmark.slug]))
        ).content.decode()
    )


def test_imported_labels_of_two_people_can_be_settled_by_who_entered_them(benchmark, bo):
    query = factories.query(benchmark, "q1")
    for rater, grade in (("w1", 3), ("w2", 0)):
        Judgment.objects.create(
            benchmark=benchmark,
            query=query,
            docid="d3",
            kind="import",
            grade=grade,
            actor=bo,
            rater=rater,
            client_id=uuid.uuid4(),
        )

    assert keys(inbox_of(benchmark, bo).cases) == [("q1", "d3")]
    assert word(benchmark, bo, outcome="pick", grade=3).grade == 3
    with pytest.raises(ThirdOpinionError, match="No pool that is open"):
        word(benchmark, bo, outcome="third_opinion")
