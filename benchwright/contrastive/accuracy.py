"""Top-k accuracy of paired embeddings, as one number."""

from typing import Any

from benchwright.contrastive.arrays import given_arrays
from benchwright.contrastive.counting import places_of_partners
from benchwright.contrastive.pairs import checked_pair
from benchwright.contrastive.ranks import checked_ties, checked_topk, hits


def contrastive_accuracy_score(
    z1: Any,
    z2: Any,
    normalize: bool = True,
    topk: float = 1,
    eps: float = 1e-12,
    ties: str = "expected",
) -> Any:
    """The share of rows whose partner is among the `topk` most similar, mean of both ways.

    Row i of `z1` looks for row i of `z2` among all rows of `z2`, and the other way round.

    Parameters
    ----------
    z1, z2
        Two numpy arrays or two torch tensors of shape (samples, features). Computed in float32.
    normalize
        Divide each row by its length + `eps` first: similarities are cosines, else dot products.
    topk
        Ranks counted, cut to a whole number and to the number of samples.
    ties
        What counts where other candidates are exactly as similar as the partner: `expected` (the
        share of their orders in which it is a hit), `optimistic` or `pessimistic`.

    Returns
    -------
    In [0, 1]: a numpy float64, or a float32 tensor without dimensions on the tensors' device.

    Raises
    ------
    ValueError
        If `topk` is below 1, shapes differ or are not of two dimensions, there is no row, a row
        holds NaN or infinity (it is named), or `ties` or `eps` is out of range. Each is a
        `ContrastiveError` with a `code`.
    TypeError
        If these are not two arrays or two tensors of real numbers.

    Notes
    -----
    Takes memory for some tiles of the matrix of similarities, never for all of it.

    Examples
    --------
    Every row of a collapsed model is as near as any other: one in four is right by chance.

    >>> import numpy as np
    >>> same = np.ones((4, 2))
    >>> float(contrastive_accuracy_score(same, same))
    0.25
    >>> float(contrastive_accuracy_score(np.eye(4), np.eye(4)))
    1.0
    """
    checked_topk(topk)
    arrays = given_arrays(z1, z2)
    checked_ties(ties)
    pair = checked_pair(arrays.first, arrays.second, normalize=normalize, eps=eps)
    k = int(min(topk, pair.n))
    places = places_of_partners(pair)
    means = [hits(each, k, ties).mean() for each in (places.forward, places.backward)]
    return arrays.like_given(sum(means) / 2)
