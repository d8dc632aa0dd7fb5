"""Every retrieval system that a site runs itself: what it is, what it needs, how it is made.

A system whose extra is not installed is listed all the same: it says which one that is.
"""

import importlib.util
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from benchwright.errors import UnknownSystemError
from benchwright.retrieval.errors import RetrievalError
from benchwright.retrieval.languages import ENGLISH
from benchwright.retrieval.searching import Searcher
from benchwright.retrieval.sparse.index import build_index
from benchwright.retrieval.sparse.systems import SYSTEMS, Parameters

Documents = Iterable[tuple[str, str]]
"""Id and text of each document."""

Build = Callable[[Documents, str], Searcher]
"""Documents and a language in, what searches them out."""

SPARSE, DENSE, HYBRID = "sparse", "dense", "hybrid"


class MissingExtraError(RetrievalError, code="missing-extra", status=409):
    message = (
        "{system} needs a package that is not installed here. Whoever runs this site can add it: "
        "pip install 'benchwright[{extra}]'."
    )


@dataclass(frozen=True, slots=True)
class Entry:
    """A system of the catalog; `kind` is its type as runs state it: sparse, dense or hybrid.

    `extra` and `module` name what is installed beside the rest for it, where anything is. Of a
    system that is `in_shards` several workers can each take a part of a corpus.
    """

    name: str
    title: str
    description: str
    kind: str
    build: Build
    extra: str = ""
    module: str = ""
    has_languages: bool = False
    in_shards: bool = False

    @property
    def is_available(self) -> bool:
        return not self.module or importlib.util.find_spec(self.module) is not None

    def searcher(self, documents: Documents, language: str = ENGLISH) -> Searcher:
        """What searches these documents.

        Raises
        ------
        MissingExtraError
            If what it needs is not installed.
        UnknownLanguageError, DuplicateDocumentError
            If the language, or an id, is wrong.
        """
        self.refuse_unavailable()
        return self.build(documents, language)

    def refuse_unavailable(self) -> None:
        if not self.is_available:
            raise MissingExtraError(system=self.title, extra=self.extra)

    def facts(self, language: str) -> dict[str, str]:
        """What a run of it says of its system, beside name, version and latency."""
        facts = {"method": self.description, "type": self.kind, "index": "exact"}
        if self.has_languages:
            parameters: dict[str, Any] = Parameters(language=language).facts()
            if not self.name.startswith("bm25"):
                parameters = {"language": parameters["language"]}
            facts["parameters"] = ", ".join(f"{name}={value}" for name, value in parameters.items())
        return facts


def _lexical(name: str) -> Build:
    def build(documents: Documents, language: str) -> Searcher:
        return build_index(name, documents, parameters=Parameters(language=language))

    return build


def _wordllama(documents: Documents, language: str) -> Searcher:
    from benchwright.retrieval.dense import wordllama

    return wordllama.build(documents)


def _hybrid(documents: Documents, language: str) -> Searcher:
    from benchwright.retrieval.dense import wordllama
    from benchwright.retrieval.fusion import FusedSearcher

    texts = list(documents)
    parts = [_lexical("bm25-stem")(texts, language), wordllama.build(texts)]
    return FusedSearcher(parts)


# Title, and what it is whatever the language.
WORDS = {
    "bm25": ("BM25", "BM25 (k1 = 1.2, b = 0.75) over words"),
    "bm25-stem": ("BM25 with stemming", "BM25 (k1 = 1.2, b = 0.75) over Snowball stems"),
    "tfidf-word": ("TF-IDF over words", "TF-IDF cosine over words"),
    "tfidf-char": (
        "TF-IDF over characters",
        "TF-IDF cosine over 3 to 5 characters within words",
    ),
}

CATALOG: Mapping[str, Entry] = MappingProxyType(
    {
        entry.name: entry
        for entry in (
            *(
                Entry(
                    name=system.name,
                    title=WORDS[system.name][0],
                    description=WORDS[system.name][1],
                    kind=SPARSE,
                    build=_lexical(system.name),
                    has_languages=True,
                    in_shards=True,
                )
                for system in SYSTEMS.values()
            ),
            Entry(
                name="wordllama",
                title="WordLlama",
                description="Cosine of static embeddings of 256 dimensions, all documents compared",
                kind=DENSE,
                build=_wordllama,
                extra="demo",
                module="wordllama",
            ),
            Entry(
                name="hybrid-rrf",
                title="BM25 with stemming and WordLlama, fused",
                description="Reciprocal rank fusion (k = 60) of bm25-stem and wordllama",
                kind=HYBRID,
                build=_hybrid,
                extra="demo",
                module="wordllama",
                has_languages=True,
            ),
        )
    }
)

LEXICAL = tuple(SYSTEMS)
"""The systems that work wherever there are texts."""


def entry_named(name: str) -> Entry:
    """One of `CATALOG`.

    Raises
    ------
    UnknownSystemError
        If it is not there.
    """
    if name not in CATALOG:
        raise UnknownSystemError(name=name, known=", ".join(CATALOG))
    return CATALOG[name]
