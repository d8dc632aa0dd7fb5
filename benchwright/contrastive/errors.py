"""What can be wrong with a pair of embeddings.

ScoringError (benchwright/errors.py)
├── ContrastiveError          also a ValueError or TypeError, as numeric code expects
│   ├── TopKError             topk below 1
│   ├── PairTiesError         a tie rule that is none of the three
│   ├── EpsilonError          an eps that is negative or no number
│   ├── EmbeddingTypeError    anything but two numpy arrays or two torch tensors of real numbers
│   ├── ShapesDifferError     two matrices of different shapes
│   ├── NotAMatrixError       more or fewer than two dimensions
│   ├── NoPairError           no row
│   ├── NotFiniteError        NaN or infinity, in a row that is named
│   ├── EmbeddingScaleError   numbers whose dot products are beyond 32 bits
│   └── PairIdsError          ids that do not fit the rows
└── PairFileError            a file that holds no matrix, no ids or no slices
"""

from benchwright.errors import ScoringError


class ContrastiveError(ScoringError, code="contrastive"):
    message = "This is no pair of embeddings."


class TopKError(ContrastiveError, ValueError, code="contrastive-topk"):
    message = "topk is {topk}; expected a number of at least 1. Choose another."


class PairTiesError(ContrastiveError, ValueError, code="contrastive-ties"):
    message = "'{ties}' is no tie rule; expected one of {known}. Choose one of them."


class EpsilonError(ContrastiveError, ValueError, code="contrastive-eps"):
    message = "eps is {eps}; expected a number of at least 0. Leave it out if in doubt."


class EmbeddingTypeError(ContrastiveError, TypeError, code="contrastive-type"):
    message = (
        "z1 is {first} and z2 is {second}; expected two numpy arrays or two torch tensors of real "
        "numbers. Convert one of them."
    )


class ShapesDifferError(ContrastiveError, ValueError, code="contrastive-shapes"):
    message = (
        "z1 has shape {first} and z2 {second}; expected the same: row i of both is one pair. Check "
        "that both come from the same samples and the same model."
    )


class NotAMatrixError(ContrastiveError, ValueError, code="contrastive-dimensions"):
    message = "z1 and z2 have shape {shape}; expected two dimensions: samples, features."


class NoPairError(ContrastiveError, ValueError, code="contrastive-empty"):
    message = "z1 and z2 have no row; expected at least one sample."


class NotFiniteError(ContrastiveError, ValueError, code="contrastive-not-finite"):
    message = (
        "{name}, row {row}: column {column} is {value}; expected finite numbers. Rows count from "
        "0; look at what the model was given there."
    )


class EmbeddingScaleError(ContrastiveError, ValueError, code="contrastive-scale"):
    message = (
        "{name}, row {row}: its length is {length:.3g}, too large for dot products in 32 bits. "
        "Normalise the rows, or divide both matrices by a constant."
    )


class PairIdsError(ContrastiveError, ValueError, code="contrastive-ids"):
    message = "{name}: {reason}"


class PairFileError(ScoringError, code="contrastive-file"):
    message = "{file}: {reason}"
