"""Of what takes long, the three thirds are all (docs/testing.md, In thirds)."""

from collections import Counter

import pytest

from tests.conftest import items_of_other_thirds


class Item:
    """As much of a test as is asked for."""

    def __init__(self, nodeid: str, *marks: pytest.MarkDecorator) -> None:
        self.nodeid = nodeid
        self.marks = {mark.name: mark.mark for mark in marks}

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return self.marks.get(name)


def test_every_test_is_of_one_third_and_one_without_the_mark_of_all():
    long = pytest.mark.in_thirds
    each = [Item(f"tests/a.py::test_{n}", long) for n in range(7)]
    whole = [Item(f"tests/b.py::test_{n}", long(whole=True)) for n in range(4)]
    short = [Item("tests/a.py::test_short"), Item("tests/c.py::test", pytest.mark.slow)]
    items = [*each, short[0], *whole, short[1]]

    thirds = [
        [item for item in items if item not in items_of_other_thirds(items, third)]
        for third in range(3)
    ]

    times = Counter(item.nodeid for third in thirds for item in third)
    assert times == Counter({item.nodeid: 3 if item in short else 1 for item in items})
    assert sorted(len(third) - len(short) for third in thirds) in ([2, 2, 7], [2, 3, 6])
    assert [sum(item in whole for item in third) for third in thirds].count(0) == 2
