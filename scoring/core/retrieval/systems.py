"""The systems by name, and how an index of one is built."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from scoring.core.errors import DuplicateDocumentError, UnknownSystemError
from scoring.core.retrieval import analysis, weighting
from scoring.core.retrieval.counting import count_features
from scoring.core.retrieval.index import Index


@dataclass(frozen=True, slots=True)
class System:
    """What makes one lexical system: the features it counts and how it weighs them."""

    name: str
    description: str
    expand: analysis.Expansion
    weigh_documents: weighting.Weighting
    weigh_queries: weighting.Weighting


SYSTEMS: Mapping[str, System] = MappingProxyType(
    {
        system.name: system
        for system in (
            System(
                "bm25",
                "BM25 (k1 = 1.2, b = 0.75) over words",
                analysis.same_words,
                weighting.bm25_documents,
                weighting.bm25_queries,
            ),
            System(
                "bm25-stem",
                "BM25 (k1 = 1.2, b = 0.75) over Snowball English stems",
                analysis.english_stems,
                weighting.bm25_documents,
                weighting.bm25_queries,
            ),
            System(
                "tfidf-word",
                "TF-IDF cosine over words",
                analysis.same_words,
                weighting.cosine,
                weighting.cosine,
            ),
            System(
                "tfidf-char",
                "TF-IDF cosine over 3 to 5 characters within words",
                analysis.character_ngrams,
                weighting.cosine,
                weighting.cosine,
            ),
        )
    }
)


def build_index(system_name: str, documents: Iterable[tuple[str, str]]) -> Index:
    """An index of `documents` (id, text) for one of `SYSTEMS`; a document may be empty.

    The order of the documents changes nothing: they are sorted by id, so the texts are in memory
    together while the index is built; it keeps none of them.

    Raises
    ------
    UnknownSystemError
        If `system_name` is not in `SYSTEMS`.
    DuplicateDocumentError
        If two documents have one id.
    """
    system = _system(system_name)
    ordered = sorted(documents, key=lambda document: _id_bytes(document[0]), reverse=True)
    docids = tuple(docid for docid, _ in ordered)
    _refuse_duplicates(docids)
    counts, vocabulary = count_features((text for _, text in ordered), system.expand)
    idf = weighting.inverse_document_frequency(counts)
    return Index(
        docids=docids,
        postings=system.weigh_documents(counts, idf).T.tocsr(),
        vocabulary=vocabulary,
        idf=idf,
        expand=system.expand,
        weigh_queries=system.weigh_queries,
    )


def _system(name: str) -> System:
    if name not in SYSTEMS:
        raise UnknownSystemError(name=name, known=", ".join(SYSTEMS))
    return SYSTEMS[name]


def _id_bytes(docid: str) -> bytes:
    return docid.encode("utf-8", "surrogateescape")


def _refuse_duplicates(docids: tuple[str, ...]) -> None:
    if len(set(docids)) == len(docids):
        return
    docid, count = Counter(docids).most_common(1)[0]
    raise DuplicateDocumentError(docid=docid, count=count)
