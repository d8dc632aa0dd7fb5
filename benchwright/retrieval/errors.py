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

from benchwright.errors import ScoringError

# --- What a person can get wrong when retrieving, and mend.


class RetrievalError(ScoringError, code="retrieval"):
    message = "This cannot be retrieved."


class UnknownLanguageError(RetrievalError, code="unknown-language"):
    message = (
        "'{language}' is no language we know; expected an ISO 639 code such as de, or one of "
        "{known}. Use the code: a language without a stemmer is searched by its words."
    )


class ParameterError(RetrievalError, code="retrieval-parameter"):
    message = "{name} is {value}; expected {expected}. Choose another value."


class EncoderError(RetrievalError, code="encoder"):
    message = "{method}: {reason}"


class VectorError(RetrievalError, code="sparse-vector"):
    message = "{place}: {reason}"


class VectorFileError(RetrievalError, code="vector-file"):
    message = "{place}: {reason}"


class NoEncoderError(RetrievalError, code="no-encoder"):
    message = (
        "These documents came as vectors, so a query's text means nothing to them; expected an "
        "encoder, or queries as vectors too. Give the vectors of the queries."
    )


class StoreError(RetrievalError, code="retrieval-store"):
    message = "{folder}: {reason}"


class ShardsDifferError(RetrievalError, code="shards-differ"):
    message = (
        "These shards were counted in different ways ({ways}); expected one system, language and "
        "parameters for all. Count them again."
    )


class KernelError(RetrievalError, code="retrieval-kernel"):
    message = "'{kernel}' cannot search here: {reason}"


class QueriesDifferError(RetrievalError, code="queries-differ"):
    message = (
        "None of the {n_results} queries with results is among the {n_qrels} of the qrels "
        "(results: {results}; qrels: {qrels}); expected the same ids. Check that both are of one "
        "split of one collection."
    )


class IdTypeError(RetrievalError, code="id-type"):
    message = (
        "{what} are {found} in the {where} and text elsewhere, so {example} would never match; "
        "expected text on both sides. Wrap the ids in str()."
    )


# --- What can be wrong with embeddings.


class EmbeddingError(RetrievalError, code="embedding"):
    message = "These embeddings cannot be searched."


class EmbeddingFileError(EmbeddingError, code="embedding-file"):
    message = "{file}: {reason}"


class EmbeddingShapeError(EmbeddingError, code="embedding-shape"):
    message = "{name}: {reason}"


class EmbeddingIdsError(EmbeddingError, code="embedding-ids"):
    message = "{name}: {reason}"


class EmbeddingValueError(EmbeddingError, code="embedding-value"):
    message = (
        "{name}: row {row} (from 0), {id!r}, holds {value}{more}; expected finite numbers that "
        "32 bits can hold. Embed it again, or leave the row and its id out."
    )


class EmbeddingDimensionsError(EmbeddingError, code="embedding-dimensions"):
    message = (
        "{queries} have {n_query} dimensions and {documents} {n_document}; expected the same "
        "number. Embed both with one model."
    )


class UnknownSimilarityError(EmbeddingError, code="unknown-similarity"):
    message = "'{similarity}' is no similarity; expected one of {known}. Choose one of them."


class DemoExtraError(EmbeddingError, code="demo-extra"):
    message = (
        "wordllama is not installed here. Install it with the extra demo: "
        "pip install 'benchwright[demo]'."
    )
