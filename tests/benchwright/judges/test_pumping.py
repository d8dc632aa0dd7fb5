"""Items through a judge, so many at once, and no further ahead of the caller than is said."""

import asyncio
import time

import pytest

from benchwright.judges.pumping import Pump, results_of

N = 60


class Counted:
    """A judge that answers soon, and knows how many questions were begun."""

    def __init__(self) -> None:
        self.n_begun = 0

    async def a_generate(self, messages, schema):
        self.n_begun += 1
        await asyncio.sleep(0.002 * (self.n_begun % 5))  # they do not come together
        return {}


async def asked(item, judge):
    await judge.a_generate([], None)
    return item


def pump(judge, concurrency, cancel=None):
    return Pump(range(N), asked, judge, concurrency=concurrency, cancel=cancel)


@pytest.mark.parametrize(("concurrency", "ahead"), [(4, 4), (16, 16), (4, 0), (3, 7)])
def test_no_more_is_begun_than_is_under_way_and_handed_over(concurrency, ahead):
    judge, n_done, behind = Counted(), 0, []
    for _ in results_of(lambda: pump(judge, concurrency), ahead=ahead):
        time.sleep(0.01)  # the caller is the slower one
        behind.append(judge.n_begun - n_done)
        n_done += 1

    assert n_done == judge.n_begun == N
    assert max(behind) <= concurrency + ahead


def test_what_has_come_is_seen_before_another_is_begun():
    async def unseen() -> list[int]:
        judge, n_seen, counts = Counted(), 0, []
        pumped = pump(judge, 4)
        while ready := await pumped.ready():
            n_seen += len(ready)
            await asyncio.sleep(0.02)  # the others come meanwhile
            counts.append(judge.n_begun - n_seen)
        await pumped.close()
        return counts

    assert max(asyncio.run(unseen())) <= 4
