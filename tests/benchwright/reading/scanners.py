"""Small run files, read by both scanners and by a third that sorts: what the tests compare."""

import io
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from benchwright.errors import BenchmarkError, Problems
from benchwright.reading import GradeTable, driving, loading, shapes, twin
from benchwright.reading.hits import QueryHits, find_hits
from benchwright.reading.loading import load_run
from benchwright.reading.shapes import Shape

TIES = ("trec", "trec9", "docid-asc", "file", "expected")


class Outcome(NamedTuple):
    """Hits and warnings, or the error."""

    hits: Any
    warnings: tuple[str, ...]
    error: str


class Rules(NamedTuple):
    """What `scan_run` is told, and the kind of file it found."""

    shape: Shape
    ties: str
    depth: int | None

    def as_options(self) -> dict[str, Any]:
        return self._asdict()


def outcome_of(scan: Callable[[Problems], Any]) -> Outcome:
    """What a call gives that tells its warnings to the problems it gets."""
    problems = Problems()
    try:
        hits, error = scan(problems), ""
    except BenchmarkError as refused:
        hits, error = None, str(refused)
    return Outcome(hits, tuple(map(str, problems.warnings)), error)


def by_twin(run: Path, table: GradeTable, rules: Rules, *, block: int) -> Outcome:
    return outcome_of(
        lambda problems: twin.scan(
            run, table.grades, problems=problems, block=block, **rules.as_options()
        )
    )


def by_extension(
    run: Path, table: GradeTable, rules: Rules, *, block: int, worth: int = 1 << 30
) -> Outcome | None:
    """None where the extension refuses: then the twin's words count."""
    outcome = outcome_of(
        lambda problems: driving.scan(
            run,
            table.compiled,
            problems=problems,
            block=block,
            worth_parting=worth,
            **rules.as_options(),
        )
    )
    return None if outcome.hits is None and not outcome.error else outcome


def by_sorting(run: Path, table: GradeTable, rules: Rules) -> Outcome:
    """The simplest way: every row in memory, every query sorted."""

    def scan(problems: Problems) -> Mapping[bytes, QueryHits[bytes]]:
        rows = load_run(run, rules.shape, problems)
        problems.raise_found()
        hits = find_hits(table.grades, rows, ties=rules.ties, depth=rules.depth)
        most = rules.depth or 1 << 30
        return {
            qid: hits.get(qid) or QueryHits(qid, (), min(len(of), most)) for qid, of in rows.items()
        }

    return outcome_of(scan)


ANYWHERE = Path("my.run")


class FilesInMemory:
    """Stands in for the opening of files by whatever reads runs; every path is of `content`."""

    def __init__(self) -> None:
        self.content = b""

    @contextmanager
    def open_inflated(self, path: Path) -> Iterator[io.BufferedReader]:
        yield io.BufferedReader(io.BytesIO(self.content))


@contextmanager
def files_in_memory() -> Iterator[FilesInMemory]:
    """No file is opened inside: thousands of small ones would take longer than reading them."""
    files = FilesInMemory()
    with ExitStack() as patched:
        for module in (driving, twin, shapes):
            patched.enter_context(patch.object(module, "open_inflated", files.open_inflated))
        patched.enter_context(
            patch.object(loading, "open_lines", lambda path: io.BytesIO(files.content))
        )
        patched.enter_context(patch.object(driving, "starts_of", lambda path, worth: []))
        yield files


# --- made at random ------------------------------------------------------------------------

QIDS = [b"1", b"01", b"q-\xff", b"\x00", b"a#b", "\u00a0".encode(), b"long" * 40]
DOCIDS = [
    *(b"d%d" % n for n in range(12)),
    b"\xff\xfe",
    b"d\x001",
    b"d\x0b2",
    b"\x0c",
    "d\u20283".encode(),
    b"x" * 70,
    b"Q0",
    b"#",
    b'"q"',
    "\u00e9".encode(),
]
SCORES = [
    b"1", b"1.0", b"2", b"2.5", b"-1", b"-0.0", b"0", b"+.5", b"5.", b"1e2", b"1E-2", b"inf",
    b"-Infinity", b"1e999", b"-1e-999", b"0.1", b"0.100000001", b"0.1000000001", b"16777217",
    b"16777216", b"9007199254740993", b"9007199254740992", b"0.30000000000000004",
    b"12345678901234567890123", b"0.12345678901234567890123456789", b"1e-320",
]  # fmt: skip
BAD_SCORES = [b"nan", b"high", b"9,5", b"1_0", b"0x10", b"1\x0c", b"", b"--1", b"1e", b".", b"e5"]
BLANKS = [b" ", b" ", b" ", b" ", b"\t", b"  ", b" \t "]
ODD_LINES = [b"", b"  ", b"# comment", b"\t# q Q0 d 1 2 t", b"\r", b" \r", b"#\rx"]


def made_run(rng: random.Random) -> bytes:
    """A small run, mostly legal: interleaved or not, with ties and odd lines."""
    rows = [
        (qid, docid)
        for qid in rng.sample(QIDS, rng.randint(1, 4))
        for docid in rng.sample(DOCIDS, rng.randint(1, len(DOCIDS)))
    ]
    if rng.random() < 0.3:
        rng.shuffle(rows)
    if rng.random() < 0.05:
        rows.append(rng.choice(rows))
    is_sorted, is_plain = rng.random() < 0.4, rng.random() < 0.5
    scores = rng.choices(SCORES[: rng.choice((2, 5, len(SCORES)))], k=len(rows))
    if rng.random() < 0.4:  # as most systems write them: all alike, up to more digits than count
        n = rng.choice((1, 3, 14, 15, 16))
        scores = [b"%d.%0*d" % (rng.randrange(2), n, rng.randrange(9)) for _ in rows]
        scores[: rng.choice((0, 0, 3))] = []
        scores += [b"1.5"] * (len(rows) - len(scores))
    if is_sorted:
        scores.sort(key=float, reverse=True)
    if rng.random() < 0.05:
        scores[rng.randrange(len(rows))] = rng.choice(BAD_SCORES)
    ranks = rng.choice(
        [list(range(1, len(rows) + 1)), [1] * len(rows), rng.choices(range(-2, 9), k=len(rows))]
    )
    lines = []
    for (qid, docid), score, rank in zip(rows, scores, ranks, strict=True):
        lines.append(_line(rng, [qid, b"Q0", docid, b"%d" % rank, score, b"t"], is_plain))
        if not is_plain and rng.random() < 0.05:
            lines.append(rng.choice(ODD_LINES))
    end = b"\r\n" if rng.random() < 0.1 else b"\n"
    mark = b"\xef\xbb\xbf" if rng.random() < 0.1 else b""
    return mark + end.join(lines) + rng.choice((end, b""))


def _line(rng: random.Random, columns: list[bytes], is_plain: bool) -> bytes:
    if is_plain:
        return b" ".join(columns)
    if rng.random() < 0.03:
        columns = columns[: rng.choice((1, 3, 4, 5, 5, 5))]
    if rng.random() < 0.03:
        columns = [*columns, b"more", b"columns"]
    if rng.random() < 0.03:
        columns[3:4] = [rng.choice((b"x", b"1.5", b"+3", b"0007", b"1234567890"))]
    line = columns[0]
    for column in columns[1:]:
        line += rng.choice(BLANKS) + column
    if rng.random() < 0.05:
        line = rng.choice((b" ", b"\t", b"\r")) + line
    if rng.random() < 0.01:
        line += b"\rx"
    return line + rng.choice((b"", b"", b"", b" ", b"\r", b"\t\r"))


def made_ranking(rng: random.Random) -> bytes:
    """A small run of three columns, mostly legal."""
    lines = [b"1 d0 1"]
    for qid in rng.sample(QIDS[1:], rng.randint(1, 4)):
        docids = rng.sample(DOCIDS[:12], rng.randint(1, 12))
        lines += [b"%b\t%b\t%d" % (qid, docid, rng.randint(1, 9)) for docid in docids]
    if rng.random() < 0.3:
        lines[1:] = rng.sample(lines[1:], len(lines) - 1)
    if rng.random() < 0.1:
        lines.append(rng.choice((b"1 d0 2", b"2 a x", b"2 a", b"2 a 1 1")))
    lines[:0] = rng.choice(([], [], [b"#"], [b"", b"# comment"]))
    return b"\n".join(lines) + rng.choice((b"\n", b""))


def made_rules(rng: random.Random, shape: Shape) -> Rules:
    ties = rng.choice(TIES)
    return Rules(shape, ties, None if ties == "expected" else rng.choice((None, None, 1, 3, 10)))


def made_qrels(rng: random.Random) -> bytes:
    """Small qrels of four columns or three, mostly legal."""
    rows = [
        (qid, docid, b"%d" % rng.choice((-1, 0, 1, 2)))
        for qid in rng.sample(QIDS, rng.randint(1, 4))
        for docid in rng.sample(DOCIDS, rng.randint(1, len(DOCIDS)))
    ]
    rows += [rng.choice(rows) for _ in range(rng.choice((0, 0, 0, 3)))]
    if rng.random() < 0.5:
        rng.shuffle(rows)
    if rng.random() < 0.1:
        rows.append((*rows[0][:2], rng.choice((b"1.0", b"x", b"5", b"1234567890", b"+3"))))
    is_three, is_plain = rng.random() < 0.3, rng.random() < 0.5
    lines = [b"query-id corpus-id score"] if is_three and rng.random() < 0.5 else []
    for qid, docid, grade in rows:
        columns = [qid, docid, grade] if is_three else [qid, b"0", docid, grade]
        blanks = b" " if is_plain else rng.choice(BLANKS)
        lines.append(
            blanks.join(columns) + rng.choice((b"", b" ", b"\r", b"\r") if not is_plain else (b"",))
        )
        if not is_plain and rng.random() < 0.05:
            lines.append(rng.choice([*ODD_LINES, b"q 0 a", b"q", b"q 0 a 1 x", b"q 0 a 1\rx"]))
    mark = b"\xef\xbb\xbf" if rng.random() < 0.1 else b""
    return mark + b"\n".join(lines) + rng.choice((b"\n", b""))


def made_grades(rng: random.Random) -> dict[bytes, dict[bytes, int]]:
    return {
        qid: {
            docid: rng.choice((-2, -1, 0, 0, 1, 2, 3, 1000))
            for docid in rng.sample(DOCIDS, rng.randint(1, len(DOCIDS)))
        }
        for qid in rng.sample(QIDS, rng.randint(1, len(QIDS)))
    }
