"""Documents that people look at as rows, each with the text that it has today."""

from collections.abc import Collection, Mapping
from typing import Any

from benchmarks_app.models import Corpus, Document, DocumentContent


def document_rows(
    corpus: Corpus, docids: Collection[str], texts: Mapping[str, Any]
) -> dict[str, int]:
    """{docid: primary key} of the documents, made where they are missing; with their `texts`."""
    Document.objects.bulk_create(
        [Document(corpus=corpus, docid=docid) for docid in docids], ignore_conflicts=True
    )
    rows = Document.objects.filter(corpus=corpus, docid__in=docids)
    keys = dict(rows.values_list("docid", "pk"))
    DocumentContent.objects.bulk_create(
        [
            DocumentContent(
                document_id=keys[docid],
                content_hash=stored.content_hash,
                title=stored.title,
                text=stored.text,
                lang=corpus.lang,
            )
            for docid, stored in texts.items()
        ],
        ignore_conflicts=True,
    )
    return keys
