"""What can be wrong with embeddings.

RetrievalError
└── EmbeddingError
    ├── EmbeddingFileError        a file that cannot be read as embeddings, or as their ids
    ├── EmbeddingShapeError       no matrix, or none of floating-point numbers
    ├── EmbeddingIdsError         ids that are repeated, empty, or not as many as rows
    ├── EmbeddingValueError       a row with NaN, infinity, or a number beyond 32 bits
    ├── EmbeddingDimensionsError  queries and documents that no product can be made of
    ├── UnknownSimilarityError    a similarity that is not one of ours
    └── DemoExtraError            a model whose library is not installed
"""

from scoring.core.retrieval.errors import RetrievalError


class EmbeddingError(RetrievalError):
    code = "embedding"
    message = "These embeddings cannot be searched."


class EmbeddingFileError(EmbeddingError):
    code = "embedding-file"
    message = "{file}: {reason}"


class EmbeddingShapeError(EmbeddingError):
    code = "embedding-shape"
    message = "{name}: {reason}"


class EmbeddingIdsError(EmbeddingError):
    code = "embedding-ids"
    message = "{name}: {reason}"


class EmbeddingValueError(EmbeddingError):
    code = "embedding-value"
    message = (
        "{name}: row {row} (from 0), {id!r}, holds {value}{more}; expected finite numbers that "
        "32 bits can hold. Embed it again, or leave the row and its id out."
    )


class EmbeddingDimensionsError(EmbeddingError):
    code = "embedding-dimensions"
    message = (
        "{queries} have {n_query} dimensions and {documents} {n_document}; expected the same "
        "number. Embed both with one model."
    )


class UnknownSimilarityError(EmbeddingError):
    code = "unknown-similarity"
    message = "'{similarity}' is no similarity; expected one of {known}. Choose one of them."


class DemoExtraError(EmbeddingError):
    code = "demo-extra"
    message = (
        "wordllama is not installed here. Install it with the extra demo: "
        "pip install 'benchwright[demo]'."
    )
