"""Releases of complete judgments: what they do not list is not relevant, nothing is unjudged."""

from dataclasses import replace

import pytest

from annotation.judging.protocol.errors import CompleteReleaseError
from annotation.pools.services.topping_up import unjudged_in_top
from benchmarks_app.common.selectors.reading import release_file_path
from benchmarks_app.models import QrelSet
from benchmarks_app.releases.selectors import release_source
from benchwright.comparison.comparability import comparability
from benchwright.exports.side_files import side_files
from benchwright.releases.canonical import content_parts
from benchwright.releases.diffing import Side, release_diff
from benchwright.releases.versions import needed_step
from scoring.comparisons.services.numbers import n_unjudged
from scoring.comparisons.services.robustness import RobustnessQuestion, computed_robustness
from scoring.completeness.services.completeness import completeness_of
from scoring.planning.services.planning import Wish, known_of, planned
from scoring.runs.selectors import holes_of
from scoring.scores.services.scoring import Target
from tests import factories
from tests.scoring.conftest import GRADES, means

UNLISTED = "q1 Q0 x1 1 9 s\nq1 Q0 d1 2 8 s\nq2 Q0 x2 1 9 s\nq2 Q0 d4 2 8 s\nq3 Q0 x3 1 1 s"
LISTED = "q1 Q0 d1 1 9 s\nq1 Q0 d2 2 8 s\nq2 Q0 d4 1 9 s\nq3 Q0 d6 1 1 s"

pytestmark = pytest.mark.django_db


@pytest.fixture
def release(benchmark, publish):
    """The fixture's grades, said to be complete."""
    qrels = factories.qrel_set(benchmark, GRADES)
    QrelSet.objects.filter(pk=qrels.pk).update(unlisted=QrelSet.Unlisted.NOT_RELEVANT)
    return publish(qrels)


def test_release_keeps_it_and_shows_it_in_card_metadata_and_exports(release):
    assert release.is_complete
    assert release.manifest["qrels"]["unlisted"] == "not-relevant"
    text = "Documents that the qrels do not list are not relevant"
    for name in ("README.md", "croissant.json"):
        assert text in release_file_path(release, name).read_text()
    manifest = dict(side_files(release_source(release)))["manifest.json"]
    assert b'"unlisted": "not-relevant"' in b"".join(manifest)


def test_content_digest_of_unknown_is_what_it_was_and_of_complete_another(release):
    source = release_source(release)
    qrels = {key: of for key, of in release.manifest["qrels"].items() if key != "unlisted"}
    before = replace(source, manifest={**release.manifest, "qrels": qrels})
    unknown = replace(source, manifest={**release.manifest, "qrels": {"unlisted": "unknown"}})

    assert content_parts(before) == content_parts(unknown)
    assert "unlisted" not in content_parts(before)
    assert content_parts(source) == {
        **content_parts(before),
        "unlisted": content_parts(source)["unlisted"],
    }


def test_saying_otherwise_of_unlisted_documents_is_a_major_step(release):
    qrels = {**release.manifest["qrels"], "unlisted": "unknown"}
    after = release_source(release)
    before = replace(after, manifest={**release.manifest, "qrels": qrels})

    diff = release_diff(Side(before, {}), Side(after, {}))

    assert diff.other == {"unlisted documents": ["unknown", "not-relevant"]}
    assert needed_step(diff).step == "major"


def test_runs_have_nothing_unjudged_and_are_compared_freely(release, scored):
    far, near = scored(UNLISTED, "far"), scored(LISTED, "near")

    assert means(far.run, release)["Judged@10"] == means(near.run, release)["Judged@10"] == 1
    assert holes_of(far) == []
    assert n_unjudged([far, near], Target.of(release), 10) == 0
    shares = {
        score_set.run.name: means(score_set.run, release)["Judged@10"] for score_set in (far, near)
    }
    assert comparability(shares).verdict.value == "free"


def test_nothing_is_worth_judging(release, scored):
    runs = [scored(UNLISTED, "far").run, scored(LISTED, "near").run]

    for some in (runs, runs[:1]):
        completeness = completeness_of(release=release, runs=some)
        assert (completeness.n_unjudged, completeness.worth, completeness.n_worth) == (0, (), 0)
    assert set(completeness.judged.values()) == {1.0}
    assert completeness.raw == completeness.all_relevant


def test_a_list_of_what_is_unjudged_in_a_run_has_nothing_to_add(release, scored, owner):
    run = scored(UNLISTED, "far").run

    with pytest.raises(CompleteReleaseError, match=r"release 1\.0\.0 are complete"):
        unjudged_in_top(run=run, depth=3, user=owner)


def test_the_planner_reckons_with_no_holes(release, scored, owner):
    scored(UNLISTED, "far")
    scored(LISTED, "near")

    result = planned(release.benchmark, known_of(release.benchmark, owner), Wish(depth=1, judged=1))

    assert {(plan.judged_of_new, plan.has_holes) for plan in result.by_depth} == {(1.0, False)}
    assert result.cheapest.depth == 1


def test_other_labels_leave_unjudged_what_they_lack_of_the_release_alone(release, scored):
    """Of `far` x1 and x2 are listed by nobody; the person's own labels lack d2 of `near`."""
    far, near = scored(UNLISTED, "far"), scored(LISTED, "near")
    own = {pair: grade for pair, grade in GRADES.items() if pair != ("q1", "d2")}
    qrels = factories.qrel_set(release.benchmark, own)
    QrelSet.objects.filter(pk=qrels.pk).update(kind=QrelSet.Kind.ANNOTATOR)

    question = RobustnessQuestion(near, far, "Judged@2")
    results = {cell["name"]: cell for cell in computed_robustness(question)["cells"]}

    assert results["as released"]["difference"] == 0
    alone = results[f"{qrels.name} alone"]
    assert (alone["n_queries"], alone["difference"]) == (3, pytest.approx(-0.5 / 3))


def test_pages_say_so(release, scored, owner, client):
    run = scored(UNLISTED, "far").run
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    start = f"/b/{release.benchmark.slug}"

    assert (
        "there is nothing to judge"
        in client.get(f"{start}/runs/{run.pk}/holes/?release=1.0.0").content.decode()
    )
    detail = client.get(release.get_absolute_url()).content.decode()
    assert "not relevant: the judgments are complete" in detail
