"""numpy arrays or torch tensors in, arrays to compute with out; torch is never imported."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchwright.contrastive.errors import (
    EmbeddingTypeError,
    NoPairError,
    NotAMatrixError,
    ShapesDifferError,
)

REAL_KINDS = "biuf"


@dataclass(frozen=True)
class Given:
    """Two matrices of one shape as numpy arrays, and what they were when they were given."""

    first: NDArray[Any]
    second: NDArray[Any]
    tensor: Any = None

    def like_given(self, value: float) -> Any:
        """A number as who gave the matrices expects it.

        A float64 of numpy, or a float32 tensor without dimensions on the tensors' own device.
        """
        if self.tensor is None:
            return np.float64(value)
        return self.tensor.detach()[:0].float().new_tensor(value)


def given_arrays(z1: Any, z2: Any) -> Given:
    """Both matrices, checked: two of one kind, of one shape, of two dimensions, of some rows.

    Raises
    ------
    EmbeddingTypeError, ShapesDifferError, NotAMatrixError, NoPairError
        In this order.
    """
    tensors = [is_tensor(each) for each in (z1, z2)]
    if not (all(map(_is_real_array, (z1, z2))) or (all(tensors) and _are_real_tensors(z1, z2))):
        raise EmbeddingTypeError(first=_kind_of(z1), second=_kind_of(z2))
    if tuple(z1.shape) != tuple(z2.shape):
        raise ShapesDifferError(first=tuple(z1.shape), second=tuple(z2.shape))
    if len(z1.shape) != 2:
        raise NotAMatrixError(shape=tuple(z1.shape))
    if not z1.shape[0]:
        raise NoPairError()
    if tensors[0]:
        return Given(_array_of(z1), _array_of(z2), tensor=z1)
    return Given(np.asarray(z1), np.asarray(z2))


def is_tensor(value: Any) -> bool:
    """Whether it is a tensor of torch, or of a class made from one, by the names of its classes."""
    return any(
        kind.__name__ == "Tensor" and kind.__module__.partition(".")[0] == "torch"
        for kind in type(value).__mro__
    )


def _is_real_array(value: Any) -> bool:
    # What a mask hides would be computed with all the same.
    is_plain = isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray)
    return is_plain and value.dtype.kind in REAL_KINDS


def _are_real_tensors(*tensors: Any) -> bool:
    return not any(tensor.is_complex() for tensor in tensors)


def _array_of(tensor: Any) -> NDArray[Any]:
    """The tensor's own memory where it is float32 on the processor, else a copy."""
    return np.asarray(tensor.detach().cpu().float().numpy())


def _kind_of(value: Any) -> str:
    kind = type(value)
    name = f"{kind.__module__}.{kind.__qualname__}"
    dtype = getattr(value, "dtype", None)
    return name if dtype is None else f"{name} of {dtype}"
