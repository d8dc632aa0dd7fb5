"""Families in the database: grouped by a job, changed by people, undone."""

import numpy as np
import pytest
from django.core.files.base import ContentFile

from benchmarks_app.collections.services import uploading
from benchmarks_app.families.services.changes import (
    confirm_families,
    confirm_family,
    judge_pair,
    merge_families,
    seen_as,
    split_family,
    undo_change,
    undo_last_change,
)
from benchmarks_app.families.services.grouping import grouping_arguments, start_grouping
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import AuditEvent, FamilyChange, FamilyLink, Job, Qrel, QueryFamily
from benchmarks_app.splits import selectors as split_reads
from benchwright.families import GroupingOptions
from benchwright.families.errors import (
    EmbeddingsError,
    EmptyPartError,
    FamiliesOfTwoBenchmarksError,
    FamilyChangedError,
    FamilyMemberError,
    FamilyWithItselfError,
    NothingToGroupError,
    NothingToUndoError,
    PairOfOneError,
    SplitChoiceError,
)
from benchwright.releases.errors import ExposedQueriesError
from tests import factories

pytestmark = pytest.mark.django_db

TEXTS = {
    "q1": "Do goldfish grow?",
    "q2": "do goldfish grow",
    "q3": "do goldfish row",
    "q4": "cost of a house",
}


def ask(of, **texts):
    return {qid: factories.query(of, qid, text) for qid, text in texts.items()}


def group(of, user, options=None, **wanted):
    arguments = grouping_arguments(benchmark=of, options=options or GroupingOptions(), **wanted)
    return factories.done(jobs.run_here(benchmark=of, user=user, **arguments))


def families(of):
    """The ids of each family of several queries."""
    results = {}
    for qid, family in of.queries.order_by("qid").values_list("qid", "family_id"):
        results.setdefault(family, []).append(qid)
    return sorted(members for members in results.values() if len(members) > 1)


def put(into, *queries, split=""):
    for query in queries:
        query.family = into
        query.save()
    QueryFamily.objects.filter(pk=into.pk).update(split=split)
    into.refresh_from_db()
    return into


def stage(into, text, family):
    """A query that a job has written and nobody sees yet."""
    job = Job.objects.create(kind="sample-queries", title="Draw", benchmark=into)
    return factories.query(into, "staged", text, family=family, staged_by=job)


def refreshed(*rows):
    for row in rows:
        row.refresh_from_db()
    return rows


# --- grouping --------------------------------------------------------------------------------


def test_queries_are_grouped_and_links_say_why(benchmark, owner):
    asked = ask(benchmark, **TEXTS)

    job = group(benchmark, owner)

    assert families(benchmark) == [["q1", "q2", "q3"]]
    links = FamilyLink.objects.filter(query_a=asked["q1"], query_b=asked["q2"])
    assert links.get().reason == "exact"
    family = asked["q1"].family
    family.refresh_from_db()
    assert family.is_flagged and 0.2 < family.doubt <= 0.4
    assert "2 families of 4 queries" in job.result["made"]


def test_a_family_keeps_its_number_where_most_of_its_queries_stay(benchmark, owner):
    asked = ask(benchmark, **TEXTS)
    kept = put(asked["q2"].family, asked["q2"], asked["q3"])

    group(benchmark, owner)

    assert {q.family_id for q in refreshed(*asked.values())[:3]} == {kept.pk}


def test_grouping_again_changes_nothing(benchmark, owner):
    ask(benchmark, **TEXTS)
    group(benchmark, owner)
    before = list(benchmark.queries.order_by("pk").values_list("pk", "family_id"))

    group(benchmark, owner)

    assert list(benchmark.queries.order_by("pk").values_list("pk", "family_id")) == before
    assert FamilyChange.objects.filter(kind="group").count() == 1


def test_labels_are_never_copied_between_members(benchmark, owner):
    asked = ask(benchmark, **TEXTS)
    factories.qrel_set(benchmark, {("q1", "d1"): 3})

    group(benchmark, owner)
    merge_families(
        family=refreshed(asked["q1"])[0].family,
        other=refreshed(asked["q4"])[0].family,
        actor=owner,
        split="",
    )

    assert list(Qrel.objects.values_list("query__qid", "docid")) == [("q1", "d1")]


def test_a_family_of_an_imported_file_stays_together(benchmark, owner):
    asked = ask(benchmark, a="aaaa", b="bbbb", c="cccc")
    put(asked["a"].family, asked["a"], asked["b"])

    group(benchmark, owner)

    assert families(benchmark) == [["a", "b"]]
    assert FamilyLink.objects.get().reason == "given"


def test_shared_relevant_documents_make_a_family_where_they_are_to_count(benchmark, owner):
    ask(benchmark, a="aaaa", b="bbbb")
    qrels = factories.qrel_set(benchmark, {("a", "d1"): 1, ("b", "d1"): 2, ("b", "d2"): 0})

    group(benchmark, owner)
    assert families(benchmark) == []
    group(benchmark, owner, qrel_set=qrels)

    assert families(benchmark) == [["a", "b"]]
    assert FamilyLink.objects.get().reason == "relevant"


def embeddings_file(of, owner, name="vectors.npz", **arrays):
    import io

    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    file = ContentFile(buffer.getvalue(), name=name)
    return uploading.receive_upload(benchmark=of, owner=owner, file=file)


def test_embeddings_make_a_family(benchmark, owner):
    ask(benchmark, a="car", b="automobile", c="tree")
    vectors = np.array([[1, 0.1], [1, 0], [0, 1]])
    upload = embeddings_file(benchmark, owner, ids=np.array(["a", "b", "c"]), embeddings=vectors)

    group(benchmark, owner, embeddings=upload)

    assert families(benchmark) == [["a", "b"]]


def test_embeddings_of_other_queries_are_refused(benchmark, owner):
    ask(benchmark, a="car")
    upload = embeddings_file(benchmark, owner, ids=np.array(["z"]), embeddings=np.eye(1))

    arguments = grouping_arguments(
        benchmark=benchmark, options=GroupingOptions(), embeddings=upload
    )
    job = jobs.run_here(benchmark=benchmark, user=owner, **arguments)

    assert "not one of its ids is a query of this benchmark" in job.error


def test_a_file_that_holds_no_embeddings_is_refused_before_the_job(benchmark, owner):
    ask(benchmark, a="car")
    file = ContentFile(b"no numbers", name="e.npz")
    upload = uploading.receive_upload(benchmark=benchmark, owner=owner, file=file)

    with pytest.raises(EmbeddingsError, match="cannot be read as numbers"):
        start_grouping(
            benchmark=benchmark, user=owner, options=GroupingOptions(), embeddings=upload
        )


def test_a_benchmark_without_queries_has_nothing_to_group(benchmark, owner):
    with pytest.raises(NothingToGroupError, match="Import queries first"):
        start_grouping(benchmark=benchmark, user=owner, options=GroupingOptions())


def test_what_changes_while_the_job_is_at_work_stops_it(benchmark, owner, monkeypatch):
    ask(benchmark, **TEXTS)
    from benchmarks_app.families.services import grouping

    plain = grouping.grouped

    def changed(*arguments, **named):
        factories.query(benchmark, "late", "a late query")
        return plain(*arguments, **named)

    monkeypatch.setattr(grouping, "grouped", changed)
    arguments = grouping_arguments(benchmark=benchmark, options=GroupingOptions())
    job = jobs.run_here(benchmark=benchmark, user=owner, **arguments)

    assert "start the grouping again" in job.error
    assert families(benchmark) == []


def test_families_of_two_splits_take_the_one_of_most_queries(benchmark, owner):
    asked = ask(benchmark, **TEXTS)
    put(asked["q1"].family, asked["q1"], asked["q3"], split="train")
    put(asked["q2"].family, asked["q2"], split="test")

    job = group(benchmark, owner)

    assert refreshed(*asked.values())[1].family.split == "train"
    assert job.result["n_moved_splits"] == 1


def test_grouping_brings_no_exposed_query_into_a_hidden_split(benchmark, owner):
    benchmark.hidden_splits = ["test"]
    benchmark.save()
    asked = ask(benchmark, **TEXTS)
    put(asked["q1"].family, asked["q1"], asked["q3"], split="test")
    put(asked["q2"].family, asked["q2"], split="dev")
    benchmark.queries.filter(qid="q2").update(exposed_at=factories.now())

    group(benchmark, owner)

    assert refreshed(*asked.values())[0].family.split == "dev"


# --- verdicts hold ---------------------------------------------------------------------------


def test_a_pair_that_differs_never_comes_together_again(benchmark, owner):
    asked = ask(benchmark, **TEXTS)
    group(benchmark, owner)
    q1, _, q3, _ = refreshed(*asked.values())

    judge_pair(a=q1, b=q3, is_same=False, actor=owner)
    assert families(benchmark) == [["q1", "q2"]]
    group(benchmark, owner, GroupingOptions(review_at=0.3))

    assert families(benchmark) == [["q1", "q2"]]


def test_a_confirmed_family_waits_no_more_also_after_grouping_again(benchmark, owner):
    asked = ask(benchmark, **TEXTS)
    group(benchmark, owner)
    family = refreshed(asked["q1"])[0].family

    confirm_family(family=family, actor=owner)
    group(benchmark, owner)

    family.refresh_from_db()
    assert (family.is_flagged, family.reviewed_by, family.doubt) == (False, owner, 0.0)


def test_saying_same_of_the_doubtful_pair_settles_the_family(benchmark, owner):
    asked = ask(benchmark, **TEXTS)
    group(benchmark, owner)
    q1, _, q3, _ = refreshed(*asked.values())

    change = judge_pair(a=q1, b=q3, is_same=True, actor=owner)

    q1.family.refresh_from_db()
    assert not q1.family.is_flagged and q1.family.reviewed_by == owner
    assert change.kind == "confirm"


def test_queries_taken_out_stay_out(benchmark, owner):
    asked = ask(benchmark, **TEXTS)
    group(benchmark, owner)
    family = refreshed(asked["q1"])[0].family

    split_family(family=family, take_out=[asked["q2"].pk], actor=owner)
    group(benchmark, owner)

    assert families(benchmark) == [["q1", "q3"]]
    links = FamilyLink.objects.filter(verdict="different")
    assert sorted(links.values_list("query_a__qid", "query_b__qid")) == [("q1", "q2"), ("q2", "q3")]


def test_each_member_stays_with_the_one_of_two_that_it_is_more_surely_linked_to(benchmark, owner):
    a, b, c, d, e = ask(benchmark, a="1", b="2", c="3", d="4", e="5").values()
    family = put(a.family, a, b, c, d, e)
    for query, to_a, to_b in [(c, 0.9, 0.5), (d, 0.9, 0.3), (e, 0.2, 0.4)]:
        factories.linked(a, query, to_a)
        factories.linked(b, query, to_b)
    FamilyLink.objects.filter(query_a=b, query_b=d).update(verdict="same")

    judge_pair(a=a, b=b, is_same=False, actor=owner)

    assert families(benchmark) == [["a", "c"], ["b", "d", "e"]]
    # The larger part keeps the number.
    assert refreshed(b)[0].family == family


def test_confirming_families_says_same_of_all_their_links_and_of_none_between_them(
    benchmark, owner
):
    a, b, c, d, e = ask(benchmark, a="1", b="2", c="3", d="4", e="5").values()
    ours, theirs = put(a.family, a, b, c), put(d.family, d, e)
    factories.linked(b, c)
    between = factories.linked(c, d)

    confirm_families(families={ours: "", theirs: ""}, actor=owner)

    same = FamilyLink.objects.filter(verdict="same").values_list("query_a__qid", "query_b__qid")
    assert set(same) == {("a", "b"), ("a", "c"), ("b", "c"), ("d", "e")}
    assert FamilyLink.objects.get(verdict="") == between


def test_a_merge_by_hand_survives_grouping(benchmark, owner):
    asked = ask(benchmark, a="car", b="automobile")

    merge_families(family=asked["a"].family, other=asked["b"].family, actor=owner)
    group(benchmark, owner)

    assert families(benchmark) == [["a", "b"]]
    assert FamilyLink.objects.get().reason == "hand"


# --- merging ---------------------------------------------------------------------------------


def test_a_merge_is_written_down(benchmark, owner):
    asked = ask(benchmark, a="car", b="automobile")
    first, second = asked["a"].family, asked["b"].family

    change = merge_families(family=first, other=second, actor=owner)

    assert change.before[str(first.pk)] == [asked["a"].pk]
    assert change.after[str(first.pk)] == [asked["a"].pk, asked["b"].pk]
    event = AuditEvent.objects.get(action="merge-family")
    assert (event.actor, event.detail["merged"]) == (owner, second.pk)
    assert not QueryFamily.objects.filter(pk=second.pk).exists()


def test_a_family_cannot_be_merged_with_itself(benchmark, owner):
    family = factories.query(benchmark).family

    with pytest.raises(FamilyWithItselfError, match="cannot be merged with itself"):
        merge_families(family=family, other=family, actor=owner)


def test_families_of_two_benchmarks_cannot_be_merged(benchmark, owner):
    other = factories.query(factories.benchmark("elsewhere")).family

    with pytest.raises(FamiliesOfTwoBenchmarksError, match="is not a family of Standard library"):
        merge_families(family=factories.query(benchmark).family, other=other, actor=owner)


def test_a_merge_across_splits_asks_which_one(benchmark, owner):
    a, b = factories.query(benchmark, "a"), factories.query(benchmark, "b")
    put(a.family, a, split="train")
    put(b.family, b, split="test")

    with pytest.raises(SplitChoiceError, match="Say which split"):
        merge_families(family=a.family, other=b.family, actor=owner)
    with pytest.raises(SplitChoiceError):
        merge_families(family=a.family, other=b.family, actor=owner, split="dev")
    merge_families(family=a.family, other=b.family, actor=owner, split="test")

    assert refreshed(a, b)[1].family.split == "test"


def test_a_merge_makes_the_split_of_the_benchmark_outdated(benchmark, owner):
    from benchmarks_app.splits.services.splitting import apply_split
    from benchwright.splits import SplitRecipe

    a, b = factories.query(benchmark, "a"), factories.query(benchmark, "b")
    for number in range(8):
        factories.query(benchmark, f"n{number}")
    plan = apply_split(benchmark=benchmark, user=owner, recipe=SplitRecipe())
    assert not split_reads.is_outdated(benchmark, plan)

    a, b = refreshed(a, b)
    merge_families(family=a.family, other=b.family, actor=owner, split=b.family.split)

    assert split_reads.is_outdated(benchmark, plan)


def test_a_merge_that_would_hide_what_was_public_is_refused(benchmark, owner):
    benchmark.hidden_splits = ["test"]
    benchmark.save()
    a, b = factories.query(benchmark, "a"), factories.query(benchmark, "b")
    put(a.family, a, split="train")
    put(b.family, b, split="test")
    benchmark.queries.filter(pk=a.pk).update(exposed_at=factories.now())

    with pytest.raises(ExposedQueriesError, match="a"):
        merge_families(family=a.family, other=b.family, actor=owner, split="test")
    merge_families(family=a.family, other=b.family, actor=owner, split="train")

    assert refreshed(b)[0].family.split == "train"


def test_a_merge_takes_back_that_queries_differ(benchmark, owner):
    asked = ask(benchmark, **TEXTS)
    group(benchmark, owner)
    q1, _, q3, _ = refreshed(*asked.values())
    judge_pair(a=q1, b=q3, is_same=False, actor=owner)
    q1, q3 = refreshed(q1, q3)

    merge_families(family=q1.family, other=q3.family, actor=owner)
    group(benchmark, owner)

    assert families(benchmark) == [["q1", "q2", "q3"]]
    assert not FamilyLink.objects.filter(verdict="different").exists()


# --- splitting -------------------------------------------------------------------------------


def test_queries_taken_out_stay_on_their_split(benchmark, owner):
    a, b = factories.query(benchmark, "a"), factories.query(benchmark, "b")
    family = put(a.family, a, b, split="dev")

    split_family(family=family, take_out=[b.pk], actor=owner)

    assert refreshed(b)[0].family.split == "dev"
    assert b.family_id != family.pk


@pytest.mark.parametrize("taken", [[], ["a", "b"]])
def test_a_part_without_a_query_is_refused(benchmark, owner, taken):
    asked = ask(benchmark, a="aaaa", b="bbbb")
    family = put(asked["a"].family, *asked.values())

    with pytest.raises(EmptyPartError, match="at least one of its 2 queries, and not all"):
        split_family(family=family, take_out=[asked[qid].pk for qid in taken], actor=owner)


def test_a_query_of_another_family_cannot_be_taken_out(benchmark, owner):
    a, b = factories.query(benchmark, "a"), factories.query(benchmark, "b")

    with pytest.raises(FamilyMemberError, match="is not in family"):
        split_family(family=a.family, take_out=[b.pk], actor=owner)


def test_a_family_that_went_away_meanwhile_is_merged_with_none(benchmark, owner):
    a, b, c = ask(benchmark, a="one", b="two", c="three").values()
    gone = QueryFamily.objects.get(pk=c.family_id)
    merge_families(family=b.family, other=c.family, actor=owner)

    with pytest.raises(FamilyChangedError):
        merge_families(family=a.family, other=gone, actor=owner)


def test_a_split_that_was_made_meanwhile_stands(benchmark, owner):
    """What a page has loaded may be older than the split."""
    ours, theirs, third = (query.family for query in ask(benchmark, a="1", b="2", c="3").values())
    QueryFamily.objects.update(split="test")
    merge_families(family=ours, other=theirs, actor=owner)
    merge_families(family=third, other=QueryFamily.objects.get(pk=ours.pk), actor=owner)
    assert QueryFamily.objects.get().split == "test"

    whole = QueryFamily.objects.get()
    QueryFamily.objects.update(split="train")
    split_family(family=whole, take_out=[benchmark.queries.get(qid="c").pk], actor=owner)

    assert list(QueryFamily.objects.values_list("split", flat=True)) == ["train", "train"]


def test_a_query_that_was_taken_out_meanwhile_is_no_pair_of_the_family(benchmark, owner):
    first = ask(benchmark, a="one", b="two", c="three")["a"]
    benchmark.queries.update(family=first.family)
    a, b, _ = benchmark.queries.order_by("pk")
    split_family(family=a.family, take_out=[b.pk], actor=owner)

    with pytest.raises(FamilyMemberError):
        judge_pair(a=a, b=b, is_same=True, actor=owner)


def test_what_changed_meanwhile_is_not_overwritten(benchmark, owner):
    asked = ask(benchmark, a="aaaa", b="bbbb", c="cccc")
    family = put(asked["a"].family, *asked.values())
    seen = seen_as(query.pk for query in asked.values())
    split_family(family=family, take_out=[asked["c"].pk], actor=owner, seen=seen)

    with pytest.raises(FamilyChangedError, match="changed by somebody else"):
        confirm_family(family=family, actor=owner, seen=seen)


def test_a_query_that_a_job_has_staged_is_no_member_yet(benchmark, owner):
    asked = ask(benchmark, a="aaaa", b="bbbb")
    family = put(asked["a"].family, *asked.values())
    staged = stage(benchmark, "aaab", family)

    seen = seen_as(query.pk for query in asked.values())
    change = confirm_family(family=family, actor=owner, seen=seen)
    staged.delete()  # the job has failed

    assert undo_change(change=change, actor=owner).undoes == change


def test_a_family_stays_where_a_job_has_staged_a_query(benchmark, owner):
    asked = ask(benchmark, a="lost card", b="Lost card")
    staged = stage(benchmark, "card lost", asked["b"].family)

    group(benchmark, owner)

    assert families(benchmark) == [["a", "b"]]
    assert refreshed(staged)[0].family == asked["b"].family


def test_a_verdict_needs_two_queries_of_one_family(benchmark, owner):
    a, b = factories.query(benchmark, "a"), factories.query(benchmark, "b")

    with pytest.raises(PairOfOneError, match="both are a"):
        judge_pair(a=a, b=a, is_same=True, actor=owner)
    with pytest.raises(FamilyMemberError):
        judge_pair(a=a, b=b, is_same=True, actor=owner)


# --- undoing ---------------------------------------------------------------------------------


def test_undoing_a_merge_brings_back_the_family_with_its_number_and_split(benchmark, owner):
    a, b = factories.query(benchmark, "a"), factories.query(benchmark, "b")
    put(a.family, a, split="train")
    put(b.family, b, split="test")
    change = merge_families(family=a.family, other=b.family, actor=owner, split="train")

    undone = undo_change(change=change, actor=owner)

    assert refreshed(b)[0].family_id == b.family_id != a.family_id
    assert b.family.split == "test"
    assert undone.undoes == change and undone.kind == "undo"
    assert not FamilyLink.objects.exists()


def test_undoing_a_verdict_brings_back_doubt_and_links(benchmark, owner):
    asked = ask(benchmark, **TEXTS)
    group(benchmark, owner)
    q1, _, q3, _ = refreshed(*asked.values())
    doubt = q1.family.doubt
    judge_pair(a=q1, b=q3, is_same=False, actor=owner)

    undo_last_change(benchmark=benchmark, actor=owner)

    assert families(benchmark) == [["q1", "q2", "q3"]]
    q1.family.refresh_from_db()
    assert (q1.family.doubt, q1.family.is_flagged) == (doubt, True)
    assert not FamilyLink.objects.exclude(verdict="").exists()


def test_undoing_a_grouping_brings_back_each_family(benchmark, owner):
    asked = ask(benchmark, **TEXTS)
    before = {query.pk: query.family_id for query in asked.values()}
    group(benchmark, owner)

    undo_last_change(benchmark=benchmark, actor=owner)

    assert dict(benchmark.queries.values_list("pk", "family_id")) == before


@pytest.mark.parametrize(
    "change",
    [
        lambda family, other, actor: confirm_family(family=family, actor=actor),
        lambda family, other, actor: merge_families(family=family, other=other, actor=actor),
        lambda family, other, actor: group(family.benchmark, actor),
    ],
    ids=["confirm", "merge", "group"],
)
def test_undoing_leaves_a_split_that_was_made_since(benchmark, owner, change):
    a, b = ask(benchmark, a="Do goldfish grow?", b="do goldfish grow").values()
    change(a.family, b.family, owner)
    QueryFamily.objects.update(split="train")

    undo_last_change(benchmark=benchmark, actor=owner)

    assert {query.family.split for query in refreshed(a, b)} == {"train"}
    assert a.family_id != b.family_id


def test_changes_are_undone_one_after_the_other(benchmark, owner):
    asked = ask(benchmark, a="aaaa", b="bbbb", c="cccc")
    a, b, c = asked.values()
    first = merge_families(family=a.family, other=b.family, actor=owner)
    merge_families(family=refreshed(a)[0].family, other=c.family, actor=owner)

    with pytest.raises(NothingToUndoError, match="changed again since"):
        undo_change(change=first, actor=owner)
    undo_last_change(benchmark=benchmark, actor=owner)
    undo_last_change(benchmark=benchmark, actor=owner)

    assert families(benchmark) == []
    with pytest.raises(NothingToUndoError, match="You have changed no family here"):
        undo_last_change(benchmark=benchmark, actor=owner)


def test_a_change_is_undone_once(benchmark, owner):
    a, b = factories.query(benchmark, "a"), factories.query(benchmark, "b")
    change = merge_families(family=a.family, other=b.family, actor=owner)
    undone = undo_change(change=change, actor=owner)

    with pytest.raises(NothingToUndoError, match="undone already"):
        undo_change(change=change, actor=owner)
    with pytest.raises(NothingToUndoError, match="itself an undoing"):
        undo_change(change=undone, actor=owner)


def test_undoing_hides_nothing_that_was_public_meanwhile(benchmark, owner):
    benchmark.hidden_splits = ["test"]
    benchmark.save()
    a, b = factories.query(benchmark, "a"), factories.query(benchmark, "b")
    put(a.family, a, split="train")
    put(b.family, b, split="test")
    change = merge_families(family=a.family, other=b.family, actor=owner, split="train")
    benchmark.queries.filter(pk=b.pk).update(exposed_at=factories.now())

    with pytest.raises(ExposedQueriesError):
        undo_change(change=change, actor=owner)


def test_undoing_is_not_refused_where_queries_stay_as_hidden_as_they_are(benchmark, owner):
    """Without splits the queries are those of *test*."""
    benchmark.hidden_splits = ["test"]
    benchmark.save()
    a, b = ask(benchmark, a="1", b="2").values()
    change = merge_families(family=a.family, other=b.family, actor=owner)
    benchmark.queries.update(exposed_at=factories.now())

    undo_change(change=change, actor=owner)

    assert families(benchmark) == []
