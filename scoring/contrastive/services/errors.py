"""What a person can get wrong when sending a pair of embeddings to the site, and mend.

ScoringError (benchwright/errors.py)
├── PairNameTakenError      another pair of the benchmark has the name
├── PairFileTooLargeError   a file beyond the site's limit
├── EmptyPairFileError      a file without a byte
├── PairIdsNeededError      slices, and no ids to tell the rows by
├── TooManySlicesError      more slices than a page shows
└── NotDeletableError       a pair of somebody else
"""

from benchwright.errors import ScoringError


class PairNameTakenError(ScoringError):
    code = "contrastive-name-taken"
    status = 409
    message = "A pair named '{name}' is in this benchmark already. Choose another name."


class PairFileTooLargeError(ScoringError):
    code = "contrastive-file-too-large"
    status = 413
    message = (
        "{file} has more than {limit:,} MB, which this site does not take (CONTRASTIVE_LIMIT_MB). "
        "Save it as float16 or float32, or take a sample of the pairs."
    )


class EmptyPairFileError(ScoringError):
    code = "contrastive-file-empty"
    message = "{file} is empty; choose the file again."


class PairIdsNeededError(ScoringError):
    code = "contrastive-ids-needed"
    message = (
        "Slices name pairs by their ids, and neither file brings ids. Send a file of ids, one a "
        "line in the order of the rows, or leave the slices out."
    )


class TooManySlicesError(ScoringError):
    code = "contrastive-slices"
    message = "{file} names {n:,} slices; at most {limit} are shown. Keep those that matter."


class NotDeletableError(ScoringError):
    code = "contrastive-not-yours"
    status = 403
    message = "'{name}' is of somebody else. Its owner or a maintainer can delete it."
