"""What a labeling page gets to see of a document: its text and its query, and a token for it.

No run, rank, score, document id, purpose or other person's grade is among it.
"""

import html
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from annotation.common.services import statements
from annotation.common.services.statements import Asked, Card, Text
from annotation.judging.services.tokens import Shown, key_of, query_key_of, sealed_token
from annotation.models import Pool
from benchmarks_app.common.selectors.images import images_shown, query_images_shown
from benchmarks_app.common.selectors.reading import benchmark_documents
from benchmarks_app.models import Benchmark, Corpus, Document, Unit
from benchwright.corpora.store import StoredDocument
from benchwright.texts.directions import direction_of
from benchwright.texts.presenting import Presented, presented
from benchwright.texts.reflowing import reflowed

TAG = re.compile(r"<[^>]*>")
LONGEST_FACT = 200
NOTHING: tuple[object, ...] = (None, "", [], {})
NO_TEXT = Text(content_hash="", title="", text="", lang="")


def items_of(
    pool: Pool, me: int, cards: Sequence[Card], hand: Sequence[Card]
) -> list[dict[str, Any]]:
    """An item of the exchange for each card given, out of all that the person has in hand."""
    if not cards:
        return []
    corpus = pool.benchmark.corpus
    texts = statements.texts([card.document for card in cards])
    rows = corpus_rows(pool.benchmark, [card.document for card in cards])
    facts, images = _facts(pool.benchmark, rows), images_of(pool.benchmark, rows)
    queries = statements.queries(sorted({card.query for card in cards}))
    pictured = query_images_shown(pool.benchmark, queries)
    answers = statements.answers([card.slot for card in cards], me)
    places = _places(pool, me, cards, hand)
    display = Shown(guideline_id=statements.guideline(pool.benchmark_id))
    items = []
    for card in cards:
        text, query = texts.get(card.document, NO_TEXT), queries[card.query]
        number, total = places[card.slot]
        document, sizes = document_as_shown(corpus, query, text)
        item_display = replace(
            display,
            content_hash=text.content_hash,
            shown_position=number,
            excerpt_chars=sizes[0],
            full_chars=sizes[1],
        )
        question, answer = answers.get(card.slot, (None, None))
        items.append(
            {
                "key": key_of(card.slot, me),
                "token": sealed_token(card.slot, me, item_display),
                "query": query_as_shown(corpus, query, query_key_of(card.query, me))
                | {"images": pictured[card.query]},
                "document": document
                | {
                    "facts": facts.get(card.document, []),
                    "images": images.get(card.document, []),
                },
                "place": {"number": number, "total": total},
                "is_later": bool(card.is_later),
                "answer": None if answer is None else {"question": question, "answer": answer},
            }
        )
    return items


def corpus_rows(benchmark: Benchmark, documents: list[int]) -> dict[int, StoredDocument]:
    """By document: its row of the corpus, where metadata or images of it are shown."""
    if not benchmark.shown_metadata and benchmark.corpus.unit != Unit.IMAGE:
        return {}
    docids = dict(Document.objects.filter(pk__in=documents).values_list("pk", "docid"))
    rows = benchmark_documents(benchmark, docids.values())
    return {document: rows[docid] for document, docid in docids.items() if docid in rows}


def _facts(benchmark: Benchmark, rows: Mapping[int, StoredDocument]) -> dict[int, list[list[str]]]:
    """By document: the metadata that the owner shows to judges, as pairs of key and text."""
    return {
        document: [
            [key, _said(row.metadata[key])]
            for key in benchmark.shown_metadata
            if row.metadata.get(key) not in NOTHING
        ]
        for document, row in rows.items()
    }


def images_of(
    benchmark: Benchmark, rows: Mapping[int, StoredDocument]
) -> dict[int, list[dict[str, Any]]]:
    """By document: its images; their addresses name what they hold, and no document."""
    images = images_shown(benchmark, rows.values())
    return {document: images[row.docid] for document, row in rows.items()}


def _said(value: Any) -> str:
    """A value of metadata as a person reads it, cut where it is long."""
    if isinstance(value, list):
        value = ", ".join(str(part) for part in value)
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST_FACT else f"{text[:LONGEST_FACT]}…"


def _places(
    pool: Pool, me: int, cards: Sequence[Card], hand: Sequence[Card]
) -> dict[int, tuple[int, int]]:
    """By slot: which document of its query it will be, and of how many."""
    new = {card.slot for card in cards}
    before = Counter(card.query for card in hand if card.slot not in new)
    counts = {query: statements.place(pool.pk, query, me) for query in {c.query for c in cards}}
    places = {}
    for card in cards:
        total, n_open = counts[card.query]
        number = total - max(n_open, 1) + 1 + before[card.query]
        places[card.slot] = (max(1, min(number, total)), total)
        before[card.query] += 1
    return places


def query_as_shown(corpus: Corpus, query: Asked, key: str) -> dict[str, Any]:
    """The query as JSON."""
    lang = query.lang or corpus.lang
    return {
        "key": key,
        "text": query.text,
        "description": reflowed(query.description, corpus.line_breaks),
        "narrative": reflowed(query.narrative, corpus.line_breaks),
        "lang": lang,
        "dir": _direction(lang, query.text),
    }


@lru_cache(maxsize=2_000)
def _direction(lang: str, text: str) -> str:
    """Of a query, which is shown with each of its documents."""
    return direction_of(lang, text)


def document_as_shown(
    corpus: Corpus, query: Asked, text: Text
) -> tuple[dict[str, Any], tuple[int, int]]:
    """The document as JSON, with how many characters its excerpt and its full text have."""
    lang = text.lang or corpus.lang
    text_shown = presented(
        query=query.text,
        title=text.title,
        text=text.text,
        text_format=corpus.text_format,
        lang=lang,
        line_breaks=corpus.line_breaks,
    )
    document = {
        "title": text_shown.title_html,
        "excerpt": "" if text_shown.is_whole else text_shown.excerpt_html,
        "full": text_shown.full_html,
        "is_whole": text_shown.is_whole,
        "n_chars": text_shown.n_chars,
        "lang": lang,
        "dir": direction_of(lang, text.text or text.title),
        "terms": [[hit.term, hit.count] for hit in text_shown.terms],
    }
    return document, (_n_chars_of_excerpt(text_shown), text_shown.n_chars)


def _n_chars_of_excerpt(text_shown: Presented) -> int:
    if text_shown.is_whole:
        return text_shown.n_chars
    return min(text_shown.n_chars, len(html.unescape(TAG.sub("", text_shown.excerpt_html))))
