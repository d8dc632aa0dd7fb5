"""Throws bytes at the readers: `python -m tests.performance.fuzz_readers --seconds 600`.

Whatever the bytes, a reader returns or refuses with an error of ours, soon, and the extension says
what the twin says. Something that crashes or hangs ends the process with a traceback.
"""

import argparse
import faulthandler
import gzip
import json
import os
import tempfile
import time
from collections import Counter
from pathlib import Path

import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchwright.errors import BenchmarkError, Problems
from benchwright.reading import choosing, read_qrels, read_run, scan_qrels, scan_run
from tests.benchwright.reading import scanners

LONGEST_SECONDS = 20
EXAMPLES_AT_ONCE = 500
TIES = st.sampled_from(scanners.TIES)

WORDS = st.sampled_from(
    [
        *(b"q Q0 d 1 2 t\n", b"q Q0 e 2 1 t\r\n", b"p Q0 d 1 1e999 t\n", b"q 0 d 1\n", b"q d 1\n"),
        *(b"query-id\tcorpus-id\tscore\n", b"PAR1", b'{"q": {"d": 1}}', b'{"', b"}", b"[", b":"),
        *(b"\xef\xbb\xbf", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x00", b"\x0b", b"\x0c", b"#"),
        *(b" ", b"\t", b"\n", b"\r", b"\r\n", b"\n\n", b"nan", b"inf", b"-", b"1", b"0.5", b"1e5"),
        *(b"q", b"Q0", b"d", b"t", b"99999999999999999999999999", b"1_0", b"0x10", b"\xff"),
    ]
)
TEXTS = st.lists(WORDS | st.binary(max_size=4), max_size=60).map(b"".join)
RUNS = st.randoms(use_true_random=False).map(scanners.made_run)
QRELS = st.randoms(use_true_random=False).map(scanners.made_qrels)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=12,
).map(lambda value: json.dumps(value).encode())


@st.composite
def damaged(draw: st.DrawFn, whole: st.SearchStrategy[bytes]) -> bytes:
    """Bytes with some of them replaced, dropped or said twice."""
    data = bytearray(draw(whole))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(data)))
        data[at : at + draw(st.integers(0, 3))] = draw(WORDS | st.binary(max_size=2))
    return bytes(data)


def packed(whole: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    return whole | damaged(whole.map(gzip.compress)) | damaged(whole.map(zstandard.compress))


PLAIN = st.binary(max_size=200) | TEXTS | damaged(RUNS) | damaged(QRELS) | damaged(JSON)
CONTENTS = PLAIN | packed(PLAIN)


def outcomes(qrels: Path, run: Path, ties: str) -> list[object]:
    """What every reader makes of two files."""

    def tried(read, *arguments, **options):
        problems = Problems()
        try:
            result = read(*arguments, problems=problems, **options)
        except BenchmarkError as error:
            result = str(error)
        return result, [str(warning) for warning in problems.warnings]

    table, told = tried(scan_qrels, qrels)
    results = [told, table if isinstance(table, str) else (table.judged, table.grades)]
    if not isinstance(table, str):
        results.append(tried(scan_run, run, table, ties=ties))
    return [*results, tried(read_qrels, qrels), tried(read_run, run)]


def fuzz(seconds: float, folder: Path) -> Counter[str]:
    """Counts of examples, and of those where the run was read."""
    qrels, run, counts = folder / "qrels", folder / "run", Counter[str]()

    @settings(
        max_examples=EXAMPLES_AT_ONCE,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(CONTENTS, CONTENTS, TIES)
    def check(qrels_content: bytes, run_content: bytes, ties: str) -> None:
        faulthandler.dump_traceback_later(LONGEST_SECONDS, exit=True)
        qrels.write_bytes(qrels_content)
        run.write_bytes(run_content)
        results = []
        for scanner in choosing.SCANNERS:
            os.environ[choosing.VARIABLE] = scanner
            results.append(outcomes(qrels, run, ties))
        assert repr(results[0]) == repr(results[1])
        counts["examples"] += 1
        counts["qrels read"] += not isinstance(results[0][1], str)
        counts["runs read"] += not isinstance(results[0][-1][0], str)
        faulthandler.cancel_dump_traceback_later()

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        check()
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    seconds = parser.parse_args().seconds
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        counts = fuzz(seconds, Path(folder))
    print(f"{seconds:,.0f} s, {dict(counts)}: no crash, no hang, no difference")


if __name__ == "__main__":
    main()
