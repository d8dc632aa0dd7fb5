"""Releases whose means would together tell of few hidden queries are not published."""

from unittest.mock import Mock

import pytest

from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Query, QueryFamily
from benchmarks_app.releases.services.releasing import deprecate_release
from benchmarks_app.slices.services.changes import register_slice
from benchwright.releases.errors import ReleaseRefusedError
from scoring.scores.services import slice_scores
from scoring.scores.services.scoring import Target, score_run
from scoring.scores.services.slice_scores import slices_on_board
from tests import factories
from tests.scoring.hiding import HIDDEN, hiding_benchmark, lines, plain_run

pytestmark = pytest.mark.django_db
MORE = [f"m{number:02}" for number in range(60)]


@pytest.fixture
def bench():
    """30 hidden queries in `test`."""
    bench = hiding_benchmark()
    bench.olga = factories.member(bench, "olga", "owner")
    return bench


def publish(bench, version):
    release = factories.release(bench.qrel_sets.get(), version)
    jobs.run_queued()
    return release


def add(bench, qids, split="test"):
    """More graded queries, each a family of its own."""
    qrels = bench.qrel_sets.get()
    for qid in qids:
        family = QueryFamily.objects.create(benchmark=bench, split=split)
        query = factories.query(bench, qid, family=family)
        qrels.qrels.create(query=query, docid=f"{qid}-good", grade=2)


def refused(bench, version) -> str:
    with pytest.raises((AssertionError, ReleaseRefusedError)) as error:
        factories.release(bench.qrel_sets.get(), version)
    return str(error.value)


@pytest.mark.parametrize(("n", "is_refused"), [(5, True), (29, True), (30, False)])
def test_hidden_splits_of_two_releases_differ_in_none_or_in_many(bench, n, is_refused):
    publish(bench, "1.0.0")
    add(bench, MORE[:n])

    if is_refused:
        assert "This release and 1.0.0 would together tell of fewer than 30" in refused(
            bench, "2.0.0"
        )
    else:
        publish(bench, "2.0.0")


def test_the_same_hidden_queries_may_be_released_again(bench):
    publish(bench, "1.0.0")
    add(bench, MORE[:5], split="dev")

    assert publish(bench, "2.0.0").version == "2.0.0"


def test_what_is_left_of_a_hidden_split_that_was_opened_in_part_is_counted(bench):
    add(bench, MORE[:30])
    publish(bench, "1.0.0")
    QueryFamily.objects.filter(queries__qid__in=HIDDEN[:20]).update(split="dev")

    # 40 of 60 stay hidden: no more is told of them than before.
    publish(bench, "2.0.0")
    QueryFamily.objects.filter(queries__qid__in=HIDDEN[20:]).update(split="dev")
    QueryFamily.objects.filter(queries__qid__in=MORE[:5]).update(split="train")

    assert "'test' has 25 families" in refused(bench, "3.0.0")


@pytest.mark.parametrize(("n", "is_withheld"), [(20, True), (30, False)])
def test_weights_differ_for_none_or_for_many_or_are_not_shown(bench, n, is_withheld):
    add(bench, MORE)
    queries = Query.objects.filter(benchmark=bench)
    queries.update(weight=1.0)
    queries.filter(qid__in=MORE[:n]).update(weight=3.0)

    release = publish(bench, "1.0.0")

    codes = {finding["code"] for finding in release.findings}
    assert ("release-weighted-withheld" in codes) == is_withheld
    assert slice_scores.means_told(release).has_weighted != is_withheld


def test_weights_of_few_hidden_queries_keep_no_release_back(bench):
    """Thirty weights that all differ are about 22 queries, less the middle one of them."""
    for number, query in enumerate(bench.queries.filter(qid__in=HIDDEN)):
        Query.objects.filter(pk=query.pk).update(weight=1 + number / 30)

    assert not slice_scores.means_told(publish(bench, "1.0.0")).has_weighted


def a_slice(bench, name, qids):
    query_slice = factories.query_slice(
        bench, name, *bench.queries.filter(qid__in=qids), minimum=30
    )
    register_slice(of=query_slice, actor=bench.olga)


def shown(release) -> list[str]:
    return [board_slice.name for board_slice in slices_on_board(release)]


def test_a_slice_is_held_against_each_hidden_split(bench):
    """40 of the one split and 10 of the other: less the first split's mean these 10 are left."""
    add(bench, MORE[:50], split="train")
    add(bench, MORE[50:] + [f"n{number:02}" for number in range(30)])
    bench.hidden_splits = ["test", "train"]
    bench.save()
    a_slice(bench, "both", MORE[:60])

    assert shown(publish(bench, "1.0.0")) == []


def test_a_slice_is_held_against_those_of_an_earlier_release(bench):
    """The larger one would go first, and tell of five less the one that was shown before."""
    add(bench, MORE)
    a_slice(bench, "first", MORE[:40])
    before = publish(bench, "1.0.0")
    a_slice(bench, "second", MORE[:45])

    after = publish(bench, "2.0.0")

    assert (shown(before), shown(after)) == (["first"], ["first"])
    # PostgreSQL puts a changed row behind the others, and hands it out after them.
    deprecate_release(user=bench.olga, release=before, reason="Old.")
    assert (shown(before), shown(after)) == (["first"], ["first"])


def test_a_slice_is_held_against_what_an_earlier_release_showed_beside_its_public_queries(bench):
    """The means of the first two differ by 20 queries that are public on the second."""
    add(bench, MORE)
    publish(bench, "1.0.0")
    QueryFamily.objects.filter(queries__qid__in=HIDDEN[:20]).update(split="dev")
    a_slice(bench, "first", MORE[:35])
    before = publish(bench, "2.0.0")
    a_slice(bench, "second", MORE[:40])

    after = publish(bench, "3.0.0")

    assert (shown(before), shown(after)) == (["first"], ["first"])


def test_what_may_be_shown_is_worked_out_once_until_a_slice_is_registered(bench, monkeypatch):
    add(bench, MORE)
    a_slice(bench, "first", MORE[:40])
    queries = bench.queries.filter(qid__in=MORE[:40])
    late = factories.query_slice(bench, "late", *queries, minimum=30)
    release = publish(bench, "1.0.0")
    choose = Mock(wraps=slice_scores.Telling)
    monkeypatch.setattr(slice_scores, "Telling", choose)

    assert shown(release) == shown(release) == ["first"]
    assert choose.call_count == 1
    register_slice(of=late, actor=bench.olga)
    assert shown(release) == ["first", "late"]


def test_weights_whose_means_are_not_shown_hide_no_slice(bench, monkeypatch):
    add(bench, MORE)
    a_slice(bench, "first", MORE[:40])
    release = publish(bench, "1.0.0")
    heavy = dict.fromkeys(HIDDEN + MORE, 1.0) | {MORE[0]: 9.0}
    monkeypatch.setattr(slice_scores, "weights_of", lambda _: heavy)

    assert not slice_scores.means_told(release).has_weighted
    assert shown(release) == ["first"]


def score(bench, release, tmp_path):
    run = factories.run(bench, lines(plain_run()), name=f"on {release.version}")
    return score_run(run=run, target=Target.of(release), folder=tmp_path / release.version)


def test_a_larger_slice_that_is_registered_later_takes_none_away_that_was_shown(bench, tmp_path):
    add(bench, MORE)
    a_slice(bench, "first", MORE[:40])
    queries = bench.queries.filter(qid__in=MORE[:45])
    larger = factories.query_slice(bench, "larger", *queries, minimum=30)
    release = publish(bench, "1.0.0")
    score(bench, release, tmp_path)

    register_slice(of=larger, actor=bench.olga)

    assert shown(release) == ["first"]


def test_weighted_means_of_two_releases_are_told_on_one_if_they_differ_in_few_weights(
    bench, tmp_path
):
    add(bench, MORE)
    queries = Query.objects.filter(benchmark=bench)
    queries.update(weight=1.0)
    queries.filter(qid__in=MORE[:45]).update(weight=3.0)
    first = publish(bench, "1.0.0")
    score(bench, first, tmp_path)
    queries.filter(qid__in=MORE[:46]).update(weight=3.0)
    second = publish(bench, "2.0.0")
    score(bench, second, tmp_path)

    results = [slice_scores.means_told(release) for release in (first, second)]

    assert [result.is_told for result in results] == [True, True]
    assert [result.has_weighted for result in results] == [True, False]
    assert "release-weighted-withheld" in {finding["code"] for finding in second.findings}


def test_more_scores_change_nothing_of_what_is_told(bench, tmp_path, django_assert_num_queries):
    first, second = publish(bench, "1.0.0"), publish(bench, "2.0.0")
    for release in (second, first):
        score(bench, release, tmp_path)
    slice_scores.means_told(first)

    with django_assert_num_queries(2):
        slice_scores.means_told(first)
