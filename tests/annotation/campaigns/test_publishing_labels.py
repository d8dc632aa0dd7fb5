"""A machine's grades as qrels of their own kind, and what a release of them says."""

import hashlib
import json

import pytest
from django.urls import reverse

from annotation.campaigns.services.errors import CampaignActiveError, NothingGradedError
from annotation.campaigns.services.publishing import publish_labels
from annotation.campaigns.services.running import judge_here, start_campaign
from annotation.models import Judgment
from benchmarks_app.models import QrelSet
from benchwright.formats.errors import QrelSetNameTakenError
from tests import factories
from tests.annotation.campaigns.making import GRADES, draft, say

pytestmark = pytest.mark.django_db


@pytest.fixture
def graded(pool, judge):
    return judge_here(campaign=draft(pool, judge, name="first"), user=pool.created_by)


def test_a_set_is_of_the_machines_grades_alone_and_says_whose(graded, ada, pool):
    say(ada, "d1", 0, pool)

    made = publish_labels(campaign=graded, user=pool.created_by, name="by umbrela2")

    rows = made.qrels.order_by("query__qid", "docid").values_list("query__qid", "docid", "grade")
    assert list(rows) == GRADES
    lines = "".join(f"{qid}\t{docid}\t{grade}\n" for qid, docid, grade in GRADES)
    assert made.digest == hashlib.sha256(lines.encode()).hexdigest()
    assert (made.kind, made.rule, made.as_of_event) == ("machine", "machine", None)
    assert (made.n_qrels, made.n_queries, made.n_relevant) == (5, 2, 4)
    told = made.parameters
    assert (told["judge"], told["models"]) == ("umbrela2", ["m-1-2026-01-01"])
    assert told["prompt_hash"] == graded.prompt.digest
    assert Judgment.objects.count() == 1


def test_what_cannot_be_published_is_refused(graded, pool, judge):
    publish_labels(campaign=graded, user=pool.created_by)

    with pytest.raises(QrelSetNameTakenError):
        publish_labels(campaign=graded, user=pool.created_by)
    empty = draft(pool, judge)
    with pytest.raises(NothingGradedError):
        publish_labels(campaign=empty, user=pool.created_by)
    start_campaign(campaign=empty, user=pool.created_by)
    empty.refresh_from_db()
    with pytest.raises(CampaignActiveError):
        publish_labels(campaign=empty, user=pool.created_by)


def test_a_release_says_machine_judged_wherever_it_is_seen(
    benchmark, graded, owner, pool, signed_in
):
    client = signed_in(owner)
    client.post(reverse("annotation:campaign-publish", args=[benchmark.slug, graded.pk]))
    made = factories.release(QrelSet.objects.get(name="first"))
    slug, of = benchmark.slug, [benchmark.slug, made.version]

    pages = {
        "page": client.get(reverse("release-detail", args=of)),
        "board": client.get(reverse("scoring:leaderboard-release", args=of)),
        "card": client.get(reverse("release-file", args=[*of, "README.md"])),
        "croissant": client.get(reverse("release-file", args=[*of, "croissant.json"])),
        "qrels": client.get(reverse("qrels-list", args=[slug])),
    }

    said = {
        name: b"".join(page) if page.streaming else page.content for name, page in pages.items()
    }
    silent = [name for name, text in said.items() if b"achine" not in text]
    assert silent == []
    for name in ("page", "board"):
        assert b"Machine-judged" in said[name]
    assert "A machine gave these grades" in json.loads(said["croissant"])["description"]
    findings = {one["code"] for one in made.findings}
    assert "release-machine-untold" in findings
