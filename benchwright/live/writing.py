"""Answers as the lines of a run, and what was noticed about them on the way."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from benchwright.formats.trec import RunRow, write_run
from benchwright.live.asking import Answered, Failed


@dataclass
class Noticed:
    """What the answers came to, counted over all queries; `times` in their order."""

    n_asked: int
    times: dict[str, float] = field(default_factory=dict)
    failed: list[Failed] = field(default_factory=list)
    n_empty: int = 0
    n_repeated: int = 0
    n_beyond: int = 0
    n_unordered: int = 0
    n_tried_again: int = 0
    n_rows: int = 0
    unknown: frozenset[str] = frozenset()

    def take(self, answered: Answered) -> None:
        reading = answered.reading
        self.times[answered.qid] = answered.milliseconds
        self.n_empty += not reading.results
        self.n_repeated += reading.n_repeated
        self.n_beyond += bool(reading.n_beyond)
        self.n_unordered += reading.is_unordered
        self.n_tried_again += answered.n_tries > 1
        self.n_rows += len(reading.results)


def run_lines(answers: Iterable[Answered], noticed: Noticed, *, tag: str) -> Iterator[bytes]:
    """Lines of a TREC run in the order of the answers, noticing what they are like."""
    return write_run(_rows(answers, noticed, tag.encode()))


def _rows(answers: Iterable[Answered], noticed: Noticed, tag: bytes) -> Iterator[RunRow]:
    for answered in answers:
        noticed.take(answered)
        qid = answered.qid.encode()
        for rank, (docid, score) in enumerate(answered.reading.results, start=1):
            yield RunRow(0, qid, docid.encode(), score, rank, tag)
