"""The systems by name, and how an index of one is built."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from benchwright.errors import UnknownSystemError
from benchwright.languages import stemmer_of
from benchwright.retrieval.errors import ParameterError
from benchwright.retrieval.languages import ENGLISH, SPACELESS, language_code
from benchwright.retrieval.sparse import analysis, weighting


@dataclass(frozen=True, slots=True)
class Parameters:
    """What can be chosen about a system: the language, and k1 and b of BM25."""

    language: str = ENGLISH
    k1: float = weighting.K1
    b: float = weighting.B

    def __post_init__(self) -> None:
        object.__setattr__(self, "language", language_code(self.language))
        if not (math.isfinite(self.k1) and self.k1 >= 0):
            raise ParameterError(name="k1", value=self.k1, expected="a number of at least 0")
        if not 0 <= self.b <= 1:
            raise ParameterError(name="b", value=self.b, expected="a number from 0 to 1")

    def facts(self) -> dict[str, Any]:
        """Itself as JSON can hold it; `Parameters(**facts)` is the way back."""
        return {"language": self.language, "k1": self.k1, "b": self.b}


@dataclass(frozen=True, slots=True)
class System:
    """What makes one lexical system: the features it counts and how it weighs them."""

    name: str
    description: str
    features: Callable[[str], analysis.Expansion]
    weigh_documents: weighting.Weighting
    weigh_queries: weighting.Weighting

    @property
    def is_bm25(self) -> bool:
        """Whether k1 and b mean anything to it."""
        return self.weigh_documents is weighting.bm25_documents


def described(system: System, parameters: Parameters) -> str:
    """One line on a system with these parameters.

    Examples
    --------
    >>> described(SYSTEMS["bm25-stem"], Parameters(language="de", k1=0.9, b=0.4))
    'BM25 (k1 = 0.9, b = 0.4) over Snowball German stems'
    """
    method = "TF-IDF cosine"
    if system.is_bm25:
        method = f"BM25 (k1 = {parameters.k1:g}, b = {parameters.b:g})"
    return f"{method} over {_features_described(system, parameters.language)}"


def _features_described(system: System, code: str) -> str:
    if system.features is _character_features:
        return "3 to 5 characters within words"
    algorithm = stemmer_of(code) if system.features is analysis.stem_features else None
    if algorithm:
        return f"Snowball {algorithm.title()} stems"
    return "character bigrams" if code in SPACELESS else "words"


def _character_features(code: str) -> analysis.Expansion:
    return analysis.character_ngrams


SYSTEMS: Mapping[str, System] = MappingProxyType(
    {
        system.name: system
        for system in (
            System(
                "bm25",
                "BM25 (k1 = 1.2, b = 0.75) over words",
                analysis.word_features,
                weighting.bm25_documents,
                weighting.bm25_queries,
            ),
            System(
                "bm25-stem",
                "BM25 (k1 = 1.2, b = 0.75) over Snowball English stems",
                analysis.stem_features,
                weighting.bm25_documents,
                weighting.bm25_queries,
            ),
            System(
                "tfidf-word",
                "TF-IDF cosine over words",
                analysis.word_features,
                weighting.cosine,
                weighting.cosine,
            ),
            System(
                "tfidf-char",
                "TF-IDF cosine over 3 to 5 characters within words",
                _character_features,
                weighting.cosine,
                weighting.cosine,
            ),
        )
    }
)


def system_named(name: str) -> System:
    """One of `SYSTEMS`.

    Raises
    ------
    UnknownSystemError
        If it is not there.
    """
    if name not in SYSTEMS:
        raise UnknownSystemError(name=name, known=", ".join(SYSTEMS))
    return SYSTEMS[name]
