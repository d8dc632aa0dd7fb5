"""The pages of a corpus: what they show, to whom, and what may be changed there."""

import json

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from benchmarks_app.models import Benchmark, Corpus
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def tiny():
    bench = factories.tiny_benchmark("tiny")
    factories.member(bench, "olga", "owner")
    return bench


@pytest.fixture
def look(tiny, signed_in):
    def do(view="corpus-detail", *args, who="olga", query="", **posted):
        client = signed_in(factories.user(who))
        url = reverse(view, args=["tiny", *args]) + query
        return client.post(url, posted) if posted else client.get(url)

    return do


def text_of(response) -> str:
    return " ".join(response.content.decode().split())


def test_the_corpus_shows_what_is_known_of_it_and_samples(tiny, look):
    text = text_of(look())

    assert "d-quote" in text
    assert "the texts may be passed on" in text
    assert "in use" in text


def test_a_document_is_found_by_its_id_and_an_unknown_one_is_not(tiny, look):
    page = look(query="?id=d-quote")

    assert page.url == reverse("document-detail", args=["tiny", "d-quote"])
    assert "No document has this id" in text_of(look(query="?id=nothing"))


def test_a_snapshot_is_looked_at_and_taken_on_its_page(tiny, look):
    version = factories.snapshot(tiny)

    assert "Version 2 is proposed" in text_of(look())
    text = text_of(look("corpus-version", 2))
    assert "another text" in text
    assert "Labels that go stale" in text
    assert look("snapshot-take", 2, go="1").url == reverse("corpus-detail", args=["tiny"])
    assert tiny.current_corpus_version == version


def test_a_decision_made_twice_is_a_conflict(tiny, look):
    factories.snapshot(tiny)
    look("snapshot-take", 2, go="1")

    response = look("snapshot-discard", 2, go="1")

    assert response.status_code == 409
    assert "it has been taken already" in text_of(response)


def test_a_proposal_is_shown_to_its_keepers_alone(tiny, look):
    factories.snapshot(tiny)
    factories.member(tiny, "vi", "viewer")

    assert "proposed" not in text_of(look(who="vi"))


def test_a_benchmark_one_may_not_see_is_counted_and_not_named(tiny, look):
    factories.benchmark("secret", name="Top secret", corpus=tiny.corpus)
    factories.snapshot(tiny)

    for page in (look(), look("corpus-version", 2)):
        assert "Top secret" not in text_of(page)
    assert "and 1 you may not see" in text_of(look())


def test_what_is_known_is_changed_and_what_cannot_be_is_refused(tiny, look):
    fields = {"corpus_unit": "document", "unit": "document", "lang": "de"}

    assert look(**fields).status_code == 302
    refused = look(**{**fields, "corpus_unit": "passage"})

    corpus = Corpus.objects.get(pk=tiny.corpus_id)
    assert (corpus.lang, corpus.may_be_passed_on) == ("de", False)
    assert refused.status_code == 422
    assert "The corpus cannot change its unit to passage: it has been imported" in text_of(refused)


def test_a_cut_is_said_on_every_page_of_the_corpus(tiny, look):
    version = tiny.current_corpus_version
    version.cut = {"max_docs": 3, "seed": 0, "n": 3, "kept": 1, "of": 9}
    version.save()

    text = "Cut to 3 of 9 documents: all 1 judged or pooled ones, the others drawn with seed 0."
    assert text in text_of(look())
    assert text in text_of(look("corpus-version", 1))
    assert "documents, cut" in text_of(look("benchmark-detail"))


def test_the_list_holds_the_corpora_one_may_see(tiny, signed_in):
    factories.tiny_benchmark("hidden")

    text = text_of(signed_in(factories.user("olga")).get(reverse("corpus-list")))

    assert "tiny texts" in text
    assert "hidden texts" not in text


def test_a_passage_shows_its_document_and_the_document_its_passages(signed_in):
    corpus = Corpus.objects.create(name="p", owner=factories.user("keeper"), unit="passage")
    bench = factories.benchmark("p", corpus=corpus, unit="document")
    rows = [{"_id": f"a#{n}", "title": "", "text": f"part {n}"} for n in (0, 1)]
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    factories.done(factories.imported(bench, content, "p.jsonl", corpus={"parents": "ids"}))
    client = signed_in(factories.member(bench, "olga", "owner"))

    def page(docid):
        return text_of(client.get(reverse("document-detail", args=["p", docid])))

    assert "A passage of" in page("a#0")
    assert "part 0 part 1" in page("a")
    assert "2 passages of the corpus" in page("a")


def test_the_command_shows_takes_and_discards(tiny, capsys):
    factories.snapshot(tiny)

    call_command("take_snapshot", "tiny")
    assert "Nothing done yet" in capsys.readouterr().out
    call_command("take_snapshot", "tiny", yes=True)

    assert tiny.current_corpus_version.number == 2
    with pytest.raises(CommandError, match="No snapshot of the corpus of 'tiny' waits"):
        call_command("take_snapshot", "tiny")


def test_a_benchmark_is_made_on_the_corpus_of_another(tiny, capsys):
    call_command("create_benchmark", "more", name="More", owner="olga", corpus_of="tiny")

    assert Benchmark.objects.get(slug="more").corpus == tiny.corpus
    with pytest.raises(CommandError, match="unit: Select a valid choice"):
        call_command("create_benchmark", "odd", name="Odd", owner="olga", unit="chapter")
    factories.user("loner")
    with pytest.raises(CommandError, match="loner keeps no benchmark 'tiny'"):
        call_command("create_benchmark", "x", name="X", owner="loner", corpus_of="tiny")
