"""What a person can get wrong when retrieving, and mend.

ScoringError
└── RetrievalError
    ├── UnknownLanguageError     a language that is neither a code nor a name we know
    ├── ParameterError           a parameter of a system out of its range
    ├── EncoderError             an encoder that returns what cannot be read as vectors
    ├── VectorError              a dimension or weight that no vector can have
    ├── VectorFileError          a file of vectors that cannot be read
    ├── NoEncoderError           texts asked of an index that holds vectors only
    ├── StoreError               a folder on disk that is missing, damaged or of something else
    ├── ShardsDifferError        shards that were counted in different ways
    ├── KernelError              a kernel that is not one of ours, or not installed
    ├── QueriesDifferError       results and qrels without a query in common
    └── IdTypeError              ids that are numbers on one side and text on the other
"""

from scoring.core.errors import ScoringError


class RetrievalError(ScoringError):
    code = "retrieval"
    message = "This cannot be retrieved."


class UnknownLanguageError(RetrievalError):
    code = "unknown-language"
    message = (
        "'{language}' is no language we know; expected an ISO 639 code such as de, or one of "
        "{known}. Use the code: a language without a stemmer is searched by its words."
    )


class ParameterError(RetrievalError):
    code = "retrieval-parameter"
    message = "{name} is {value}; expected {expected}. Choose another value."


class EncoderError(RetrievalError):
    code = "encoder"
    message = "{method}: {reason}"


class VectorError(RetrievalError):
    code = "sparse-vector"
    message = "{place}: {reason}"


class VectorFileError(RetrievalError):
    code = "vector-file"
    message = "{place}: {reason}"


class NoEncoderError(RetrievalError):
    code = "no-encoder"
    message = (
        "These documents came as vectors, so a query's text means nothing to them; expected an "
        "encoder, or queries as vectors too. Give the vectors of the queries."
    )


class StoreError(RetrievalError):
    code = "retrieval-store"
    message = "{folder}: {reason}"


class ShardsDifferError(RetrievalError):
    code = "shards-differ"
    message = (
        "These shards were counted in different ways ({ways}); expected one system, language and "
        "parameters for all. Count them again."
    )


class KernelError(RetrievalError):
    code = "retrieval-kernel"
    message = "'{kernel}' cannot search here: {reason}"


class QueriesDifferError(RetrievalError):
    code = "queries-differ"
    message = (
        "None of the {n_results} queries with results is among the {n_qrels} of the qrels "
        "(results: {results}; qrels: {qrels}); expected the same ids. Check that both are of one "
        "split of one collection."
    )


class IdTypeError(RetrievalError):
    code = "id-type"
    message = (
        "{what} are {found} in the {where} and text elsewhere, so {example} would never match; "
        "expected text on both sides. Wrap the ids in str()."
    )
