"""The DataFrame interchange protocol, from a small frame of our own that only offers that."""

from array import array
from types import SimpleNamespace

import pytest

from benchwright import evaluate
from benchwright.errors import ColumnsError
from benchwright.reading.interchange import (
    BITS,
    BOOLEAN,
    BYTES,
    CATEGORICAL,
    FLOAT,
    INTEGER,
    NAN,
    NO_NULLS,
    SENTINEL,
    STRING,
    UNSIGNED,
    interchanged,
)


class Column:
    """A column as the protocol describes it; `data`, `validity` and `offsets` are arrays."""

    def __init__(self, dtype, data, *, n, offset=0, null=(NO_NULLS, None), **more):
        self.dtype = (*dtype, "?", "=")
        self.describe_null = null
        self.describe_categorical = {"categories": more.pop("categories", None)}
        self.offset = offset
        self._size = n
        self._arrays = {"data": (data, self.dtype), "validity": None, "offsets": None} | more

    def size(self):
        return self._size

    def get_buffers(self):
        return {
            name: array and (buffer(array[0]), array[1]) for name, array in self._arrays.items()
        }


def buffer(content: array) -> SimpleNamespace:
    address, n = content.buffer_info()
    return SimpleNamespace(ptr=address, bufsize=n * content.itemsize)


class Frame:
    """Columns by name, in chunks."""

    def __init__(self, *chunks: dict[str, Column]) -> None:
        self.chunks = chunks

    def __dataframe__(self, nan_as_null=False, allow_copy=True):
        return self

    def column_names(self):
        return list(self.chunks[0])

    def get_chunks(self):
        return [SimpleNamespace(get_column_by_name=chunk.__getitem__) for chunk in self.chunks]


def texts(*values: str, offset: int = 0, **more) -> Column:
    content = "".join(values).encode()
    ends = [0]
    for value in values:
        ends.append(ends[-1] + len(value.encode()))
    return Column(
        (STRING, 8),
        array("B", content),
        n=len(values) - offset,
        offset=offset,
        offsets=(array("q", ends), (INTEGER, 64, "l", "=")),
        **more,
    )


def read(column: Column) -> list:
    return interchanged(Frame({"one": column}))["one"]


@pytest.mark.parametrize(
    ("kind", "bits", "code", "values"),
    [
        (INTEGER, 8, "b", [-1, 2]),
        (INTEGER, 16, "h", [-1, 2]),
        (INTEGER, 32, "i", [-1, 2]),
        (INTEGER, 64, "q", [-1, 2**40]),
        (UNSIGNED, 8, "B", [255, 0]),
        (UNSIGNED, 16, "H", [65535, 0]),
        (UNSIGNED, 32, "I", [2**32 - 1, 0]),
        (UNSIGNED, 64, "Q", [2**64 - 1, 0]),
        (FLOAT, 32, "f", [0.5, -2.0]),
        (FLOAT, 64, "d", [0.1, 1e300]),
        (BOOLEAN, 8, "B", [1, 0]),
    ],
)
def test_numbers_of_every_type_are_read(kind, bits, code, values):
    assert read(Column((kind, bits), array(code, values), n=2)) == values


def test_column_may_begin_within_its_buffer():
    assert read(Column((INTEGER, 64), array("q", [1, 2, 3]), n=2, offset=1)) == [2, 3]
    assert read(texts("ab", "", "ü", offset=1)) == ["", "ü"]


@pytest.mark.parametrize(
    ("null", "mask", "expected"),
    [
        ((NO_NULLS, None), None, [1, 2, 3]),
        ((SENTINEL, 2), None, [1, None, 3]),
        ((BITS, 0), [0b1011], [1, 2, None]),
        ((BITS, 1), [0b0001], [None, 2, 3]),
        ((BYTES, 0), [1, 0, 1], [1, None, 3]),
        ((BYTES, 1), [1, 0, 0], [None, 2, 3]),
        ((BYTES, 1), None, [1, 2, 3]),
    ],
)
def test_missing_values_are_none(null, mask, expected):
    validity = mask and (array("B", mask), (BOOLEAN, 8, "b", "="))

    column = Column((INTEGER, 64), array("q", [1, 2, 3]), n=3, null=null, validity=validity)

    assert read(column) == expected


def test_categories_stand_for_their_codes():
    codes = array("b", [1, 0, -1])

    column = Column((CATEGORICAL, 8), codes, n=3, null=(SENTINEL, -1), categories=texts("x", "y"))
    column._arrays["data"] = (codes, (INTEGER, 8, "b", "="))

    assert read(column) == ["y", "x", None]


def test_chunks_follow_each_other():
    result = interchanged(Frame({"a": texts("x")}, {"a": texts("y", "z")}))

    assert result == {"a": ["x", "y", "z"]}


def test_times_are_refused():
    with pytest.raises(ColumnsError, match="has a column 'one' of type"):
        read(Column((22, 64), array("q", [0]), n=1))


def test_frame_that_only_offers_the_protocol_is_scored():
    grades = Column((INTEGER, 64), array("q", [3, 1]), n=2)
    scores = Column((FLOAT, 64), array("d", [1.0, 2.0]), n=2, null=(NAN, None))
    qrels = Frame({"query_id": texts("q", "q"), "doc_id": texts("a", "b"), "rel": grades})
    run = Frame({"qid": texts("q", "q"), "docid": texts("a", "b"), "score": scores})

    result = evaluate(qrels, run, ["nDCG@10"])

    assert result.per_query == {"q": {"nDCG@10": pytest.approx(0.7967, abs=5e-5)}}
