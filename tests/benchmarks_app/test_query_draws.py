"""Families drawn for people: one seed, an order anybody can work out, and no second try."""

import json
from hashlib import blake2b

import pytest
from django.core.management import call_command
from django.urls import reverse

from benchmarks_app.models import AuditEvent, Query
from benchmarks_app.queries.services import draw_families
from benchwright.estimation.errors import DrawSizeError
from tests import factories

pytestmark = pytest.mark.django_db
QIDS = [f"q{number}" for number in range(12)]


@pytest.fixture
def asked(benchmark):
    for qid in QIDS:
        factories.query(benchmark, qid)
    return benchmark


def order(seed: int, names) -> list[str]:
    """The order of names by the digest of the seed, the purpose and the name."""

    def key(name: str) -> str:
        listed = json.dumps([seed, "estimate", name], ensure_ascii=False)
        return blake2b(listed.encode(), digest_size=16).hexdigest()

    return sorted(names, key=key)


def test_a_draw_is_the_beginning_of_its_seeds_order(asked, owner):
    draw = draw_families(benchmark=asked, n=5, user=owner)

    assert draw.families == order(draw.seed, QIDS)[:5]
    assert (draw.n_drawn, draw.n_population) == (5, 12)
    assert AuditEvent.objects.filter(action="draw-queries").count() == 1


def test_a_family_is_drawn_as_one_and_called_by_its_smallest_query(asked, owner):
    first, second = (asked.queries.get(qid=qid) for qid in ("q3", "q7"))
    Query.objects.filter(pk=second.pk).update(family=first.family)
    Query.objects.filter(qid="q1").update(excluded_reason="a duplicate")

    draw = draw_families(benchmark=asked, n=10, user=owner)

    assert sorted(draw.families) == sorted(set(QIDS) - {"q7", "q1"})


def test_the_same_draw_again_is_the_same_and_a_larger_one_goes_on(asked, owner):
    draw = draw_families(benchmark=asked, n=5, user=owner)

    assert draw_families(benchmark=asked, n=5, user=owner) == draw
    larger = draw_families(benchmark=asked, n=9, user=owner)

    assert larger.families[:5] == draw.families
    assert asked.query_draws.count() == 2


def test_nobody_draws_fewer_of_the_same_families_or_more_than_there_are(asked, owner):
    draw_families(benchmark=asked, n=5, user=owner)

    with pytest.raises(DrawSizeError, match=r"4 families cannot be drawn: expected 6 to 12\."):
        draw_families(benchmark=asked, n=4, user=owner)
    with pytest.raises(DrawSizeError, match="13 families cannot be drawn"):
        draw_families(benchmark=asked, n=13, user=owner)


def test_new_queries_are_drawn_from_by_the_same_seed(asked, owner):
    before = draw_families(benchmark=asked, n=5, user=owner)
    factories.query(asked, "q12")

    after = draw_families(benchmark=asked, n=3, user=owner)

    assert (after.seed, after.n_population) == (before.seed, 13)
    assert after.frame != before.frame


def test_pages_command_and_api_draw_the_same(asked, owner, signed_in, capsys):
    client = signed_in(owner)
    page = reverse("query-draw-list", args=[asked.slug])

    assert client.post(page, {"n": 4}).status_code == 302
    call_command("draw_queries", asked.slug, "--n", "4")
    answer = client.get(reverse("api:query-draw-list", args=[asked.slug])).json()

    draw = asked.query_draws.get()
    assert capsys.readouterr().out.splitlines()[1:] == draw.families
    assert answer["results"][0]["families"] == draw.families
    lines = client.get(reverse("query-draw-queries", args=[asked.slug, draw.pk])).content.decode()
    assert lines.splitlines() == ["query-id\tfamily", *(f"{q}\t{q}" for q in draw.families)]
    assert f"{draw.seed}" in client.get(page).content.decode()


def test_a_page_says_why_so_many_cannot_be_drawn(asked, owner, signed_in):
    answer = signed_in(owner).post(reverse("query-draw-list", args=[asked.slug]), {"n": 99})

    assert answer.status_code == 422
    assert "99 families cannot be drawn" in answer.content.decode()
