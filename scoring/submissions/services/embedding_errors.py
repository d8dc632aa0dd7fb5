"""What can be wrong with submitted embeddings, beside what is wrong with embeddings at all."""

from benchwright.errors import ScoringError


class UnknownDocumentsError(ScoringError):
    code = "embedding-unknown-documents"
    message = (
        "{n_unknown} of the {n_given} ids of the document embeddings are not in the corpus "
        "({examples}); expected its ids alone. Embed the documents of corpus {corpus}, or leave "
        "the others out."
    )


class BadIdsError(ScoringError):
    code = "embedding-bad-ids"
    message = (
        "{name}: the id of row {row} (from 0), {id}: {reason}. Write the ids as they are here."
    )


class NoDocumentVectorsError(ScoringError):
    code = "embedding-no-documents"
    message = "The document embeddings hold no row, so there is nothing to find. Embed the corpus."
