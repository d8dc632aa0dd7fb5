import gzip
import json
import os
import random
import struct
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import zstandard
from hypothesis import example, given
from hypothesis import strategies as st

from benchwright import evaluate
from benchwright.errors import (
    ArchiveError,
    CutoffError,
    ExpectedDepthError,
    FileProblemsError,
    MissingFileError,
    Problems,
    UnknownScannerError,
)
from benchwright.reading import (
    GradeTable,
    Hit,
    Judged,
    QueryHits,
    choosing,
    driving,
    read_qrels,
    scan_qrels,
    scan_run,
    scanner_name,
)
from benchwright.reading.loading import load_run
from benchwright.reading.shapes import Shape, qrels_shape, run_shape
from tests.benchwright.reading import scanners
from tests.benchwright.reading.conftest import skip_without_extension
from tests.benchwright.reading.scanners import ANYWHERE
from tests.examples import examples

QRELS = b"q 0 a 1\nq 0 b 2\np 0 a 3\n"
RUN = b"q Q0 a 1 2 t\nq Q0 x 2 1.5 t\nq Q0 b 3 1 t\np Q0 x 1 1 t\n"
HITS = {
    b"q": QueryHits(b"q", (Hit(1, 1), Hit(3, 2)), 3),
    b"p": QueryHits(b"p", (), 1),
}


# --- which scanner -------------------------------------------------------------------------


def test_scanner_that_is_asked_for_is_the_one_that_reads(scanner):
    assert scanner_name() == scanner


def test_extension_is_there_where_it_is_required():
    if os.environ.get("BENCHWRIGHT_REQUIRE_EXTENSION") == "1":
        assert choosing.built() is not None


def test_unknown_scanner_is_refused(monkeypatch):
    monkeypatch.setenv(choosing.VARIABLE, "rust")

    with pytest.raises(UnknownScannerError, match="is 'rust'; expected extension or twin"):
        scanner_name()


def test_extension_that_is_not_built_is_refused_only_where_it_is_asked_for(monkeypatch):
    monkeypatch.setattr(choosing, "built", lambda: None)
    monkeypatch.delenv(choosing.VARIABLE, raising=False)

    assert scanner_name() == "twin"
    monkeypatch.setenv(choosing.VARIABLE, "extension")
    with pytest.raises(UnknownScannerError, match="expected it to be installed"):
        scanner_name()


# --- both alike ----------------------------------------------------------------------------


@pytest.fixture
def memory():
    with scanners.files_in_memory() as files:
        yield files


@pytest.mark.parametrize("part", range(4))
def test_runs_at_random_give_the_same_by_every_way(extension, memory, part):
    """Ten thousand small files in all: ties, holes, negative grades, queries that come back, odd
    bytes, damage; read in blocks of a few bytes. Each is too small to be a test of its own."""
    n_files, n_refused = examples(2500), 0
    for seed in range(part * 2500, part * 2500 + n_files):
        rng = random.Random(seed)
        memory.content = scanners.made_run(rng)
        table = GradeTable(scanners.made_grades(rng))
        rules = scanners.made_rules(rng, run_shape(ANYWHERE))
        block = rng.randint(1, 64)

        simply = scanners.by_sorting(ANYWHERE, table, rules)
        twin = scanners.by_twin(ANYWHERE, table, rules, block=rng.choice((block, 1 << 17)))
        quickly = scanners.by_extension(ANYWHERE, table, rules, block=block)

        assert twin == simply, seed
        assert list(twin.hits or ()) == list(simply.hits or ()), seed
        n_refused += quickly is None
        if quickly is None:
            assert twin.error, seed  # what is legal, it takes
        else:
            assert quickly == twin, seed
            assert list(quickly.hits) == list(twin.hits), seed
    assert 0.1 < n_refused / n_files < 0.5


def test_qrels_at_random_give_the_same_by_every_way(extension, memory, monkeypatch):
    read = {
        "extension": lambda problems: scan_qrels(ANYWHERE, problems=problems),
        "twin": lambda problems: scan_qrels(ANYWHERE, problems=problems),
        "": lambda problems: GradeTable(read_qrels(ANYWHERE, problems=problems)),
    }
    for seed in range(examples(2000)):
        memory.content = scanners.made_qrels(random.Random(seed))
        outcomes = []
        for scanner, scan in read.items():
            monkeypatch.setenv(choosing.VARIABLE, scanner)
            table, *told = scanners.outcome_of(scan)
            assert table is None or list(table.judged) == list(table.grades), seed
            outcomes.append((table and (table.judged, table.grades), *told))

        assert outcomes[0] == outcomes[1] == outcomes[2], seed


def test_table_of_a_mapping_and_of_a_file_are_alike(scanner, tmp_path):
    path, run = tmp_path / "qrels", tmp_path / "run"
    path.write_bytes(b"q 0 a 1\np 0 a 3\nq 0 b -2\n")
    run.write_bytes(RUN)
    grades = {b"q": {b"a": 1, b"b": -2}, b"p": {b"a": 3}}

    read, given_ = scan_qrels(path), GradeTable(grades)

    assert read.grades == given_.grades == grades
    assert read.judged == given_.judged == {b"q": Judged((1, -2)), b"p": Judged((3,))}
    assert scan_run(run, read) == scan_run(run, given_)


def test_grades_beyond_32_bits_are_read_by_the_twin(extension, tmp_path):
    (tmp_path / "run").write_bytes(RUN)
    table = GradeTable({b"q": {b"a": 1 << 40}})

    assert table.compiled is None
    assert scan_run(tmp_path / "run", table)[b"q"].hits == (Hit(1, 1 << 40),)


def test_rules_that_are_none_are_refused(scan):
    with pytest.raises(CutoffError):
        scan(QRELS, RUN, depth=0)
    with pytest.raises(ExpectedDepthError, match="where a tie may be cut in two"):
        scan(QRELS, RUN, depth=5, ties="expected")


def test_all_problems_of_a_run_are_told_together_and_no_warning_twice(scan):
    problems = Problems()

    with pytest.raises(FileProblemsError) as caught:
        scan(QRELS, RUN + b"q Q0 c 4 0\nq Q0 d\np Q0 y 1 x t\nq Q0 a 1 0 t\n", problems=problems)

    assert [problem.line for problem in caught.value.problems] == [6, 7, 8]
    assert [warning.line for warning in problems.warnings] == [5]


def test_memory_does_not_grow_with_the_file(extension, tmp_path):
    """A run of a hundred thousand rows in blocks is held a query at a time."""
    module = choosing.built()
    table = module.Table()
    table.end()
    kept, dropped = (module.Scanner(table, 0, 0, False, is_kept, True) for is_kept in (True, False))
    rows = b"".join(b"%d Q0 d%d 1 0 t\n" % (n // 100, n) for n in range(100_000))

    for scanner in (kept, dropped):
        assert (scanner.feed(rows), scanner.end()) == (0, 0)

    assert dropped.n_held() == 100
    assert kept.n_held() == 100_000


# --- numbers -------------------------------------------------------------------------------

DIGITS = st.text("0123456789", max_size=25)
DECIMALS = st.builds(
    lambda sign, whole, point, part, e, power: f"{sign}{whole}{point}{part}{e}{power}".encode(),
    st.sampled_from(["", "", "-", "+"]),
    DIGITS,
    st.sampled_from([".", ".", ""]),
    DIGITS,
    st.sampled_from(["", "", "e", "E-", "e+"]),
    st.integers(0, 400).map(str) | st.just(""),
)
TOKENS = (
    DECIMALS | st.floats(allow_nan=False).map(lambda x: repr(x).encode()) | st.binary(max_size=9)
)


@pytest.mark.skipif(choosing.built() is None, reason="no extension; see conftest")
@given(token=TOKENS)
@example(token=b"9007199254740993")
@example(token=b"0.9007199254740993")
@example(token=b"9.007199254740993")
@example(token=b"179769313486231580793728971405301e276")
@example(token=b"2.2250738585072012e-308")
@example(token=b"1" + b"0" * 400)
@example(token=b"0." + b"0" * 200 + b"1")
@example(token=b"InFinity")
@example(token=b"1_0")
@example(token=b"0x10")
@example(token=b"1e")
def test_score_is_the_double_that_python_reads(token):
    if not token or set(token) & set(b" \t\r\n"):
        return
    try:
        expected = float(token)
    except ValueError:
        expected = None
    if expected != expected or b"_" in token or token != token.strip():
        expected = None

    got = choosing.built().parsed_score(token)

    if len(token) <= 300 or got is not None:
        assert got is expected is None or struct.pack("d", got) == struct.pack("d", expected)


def test_scores_of_every_length_round_as_python_rounds(extension):
    rng = random.Random(5)
    parsed = choosing.built().parsed_score
    for _ in range(50_000):
        n = rng.randint(14, 19)
        digits = str(rng.randrange(10 ** (n - 1), 10**n))
        place = rng.randint(0, n)
        token = f"{digits[:place] or 0}.{digits[place:]}".encode()
        assert parsed(token) == float(token), token


@given(whole=st.integers(1 << 53, (1 << 64) - 1), ten=st.integers(1, 19))
def test_halves_between_two_doubles_round_to_even(whole, ten):
    """Numbers on the middle between two doubles, and just beside it."""
    skip_without_extension()
    text = str(whole).rjust(ten + 1, "0")
    token = f"{text[:-ten]}.{text[-ten:]}".encode()

    assert choosing.built().parsed_score(token) == float(token)


# --- sources -------------------------------------------------------------------------------


def zstd_of(data):
    return zstandard.compress(data)


# As a spreadsheet begins: a zip whose first file tells what the others are.
SHEET = b"PK\x03\x04" + bytes(26) + b"[Content_Types].xml<?xml version=..."
PACKED = {"plain": bytes, "gzip": gzip.compress, "zstd": zstd_of}


@pytest.mark.parametrize("packed", PACKED.values(), ids=PACKED)
def test_files_are_known_by_their_first_bytes(scan, packed):
    assert scan(packed(QRELS), packed(RUN)) == HITS


@pytest.mark.parametrize("of", ["qrels", "run"])
@pytest.mark.parametrize(
    ("pack", "reason"),
    [
        (lambda content: gzip.compress(gzip.compress(content)), "was compressed twice"),
        (lambda content: b"PK\x03\x04" + content, "is a zip archive; take the file out of it"),
        (lambda content: SHEET, "my[.](run|qrels): is a spreadsheet or another office file; save"),
        (lambda content: b"%PDF-1.7\n" + content, "is a PDF; write what is in it as text"),
    ],
    ids=["twice", "zip", "sheet", "pdf"],
)
def test_what_is_no_single_file_says_what_it_is(scan, pack, reason, of):
    contents = {"qrels": QRELS, "run": RUN}
    contents[of] = pack(contents[of])

    with pytest.raises(ArchiveError, match=reason):
        scan(*contents.values())


@pytest.mark.parametrize("pack", [gzip.compress, zstd_of], ids=["gzip", "zstd"])
def test_what_was_cut_short_is_refused(scan, pack):
    packed = pack(RUN * 50 if pack is zstd_of else os.urandom(99) + RUN)

    with pytest.raises(ArchiveError, match=r"my\.run: the \w+ file (ends too early|is damaged)"):
        scan(QRELS, packed[:-9])


@pytest.mark.parametrize("packed", [gzip.compress, zstd_of], ids=["gzip", "zstd"])
def test_what_inflates_too_far_is_refused(scan, packed):
    with pytest.raises(ArchiveError, match="inflates to more than 16,777,216 bytes"):
        scan(QRELS, packed(RUN + (b"#" * 999 + b"\n") * 20_000))


def test_file_that_is_not_there_is_named(scanner, tmp_path):
    with pytest.raises(MissingFileError, match="nothing: no file found"):
        scan_qrels(tmp_path / "nothing")
    with pytest.raises(MissingFileError, match="nothing: no file found"):
        scan_run(tmp_path / "nothing", GradeTable({}))


def test_line_of_more_than_64_mib_is_refused(scan):
    with pytest.raises(ArchiveError, match=r"my\.run: line 2 has more than 67,108,864 bytes"):
        scan(QRELS, b"q Q0 a 1 2 t\nq Q0 b 1 1 " + b"t" * (64 << 20))


CODE = """
import sys
import threading
from pathlib import Path
from benchwright.reading import scan_qrels, scan_run
run, qrels = map(Path, sys.argv[1:])
table = scan_qrels(qrels)
for _ in range(2):
    print(scan_run(run, table))
"""


@pytest.mark.parametrize("packed", PACKED.values(), ids=PACKED)
def test_standard_input_is_read_and_read_again(scanner, tmp_path, packed):
    (tmp_path / "qrels").write_bytes(QRELS)

    done = subprocess.run(
        [sys.executable, "-c", CODE, "-", str(tmp_path / "qrels")],
        input=packed(RUN),
        capture_output=True,
        check=True,
    )

    assert done.stdout.decode() == f"{HITS}\n{HITS}\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_pipe_is_read_and_read_again(scanner, tmp_path):
    (tmp_path / "qrels").write_bytes(QRELS)
    os.mkfifo(tmp_path / "pipe")
    reading = [sys.executable, "-c", CODE, str(tmp_path / "pipe"), str(tmp_path / "qrels")]

    with subprocess.Popen(reading, stdout=subprocess.PIPE) as process:
        (tmp_path / "pipe").write_bytes(RUN)
        output, _ = process.communicate(timeout=60)

    assert output.decode() == f"{HITS}\n{HITS}\n"


def test_messages_about_standard_input_say_so(tmp_path):
    (tmp_path / "qrels").write_bytes(QRELS)

    done = subprocess.run(
        [sys.executable, "-c", CODE, "-", str(tmp_path / "qrels")],
        input=b"q Q0 a\n",
        capture_output=True,
        check=False,
    )

    assert "standard input:1: 3 columns; expected 6" in done.stderr.decode()


# --- two threads ---------------------------------------------------------------------------


def queries(*names, depth=50):
    return b"".join(
        b"%b Q0 d%d %d %f t\n" % (qid, n, n, 1 / n) for qid in names for n in range(1, depth)
    )


@pytest.mark.parametrize(
    "run",
    [
        queries(b"a", b"b", b"c", b"d", b"e"),
        b"\xef\xbb\xbf" + queries(b"a", b"b") + b"#\n\n" * 99 + queries(b"c", b"d"),
        queries(b"a", b"b", b"c", b"b"),
        queries(b"a") + queries(b"b", depth=500),
        queries(b"a"),
        queries(b"a", b"b", b"c").replace(b" t\n", b"\n") + queries(b"d"),
        queries(b"a", b"b", b"c") + b"c Q0 x 9 1 t\nc Q0 y 10 2\n",
        queries(b"a", b"b", b"c", b"d").replace(b" t\n", b"\n").replace(b" 9 ", b" 1 "),
        queries(b"a", b"b", b"\xef\xbb\xbfd"),
    ],
    ids=[
        *("blocks", "comments", "comes back", "lopsided", "one", "tags", "warnings late"),
        *("warnings twice", "mark within"),
    ],
)
@pytest.mark.parametrize("n_processors", [2, 5])
def test_parts_give_what_the_whole_gives(extension, tmp_path, monkeypatch, run, n_processors):
    monkeypatch.setattr(driving.os, "cpu_count", lambda: n_processors)
    path = tmp_path / "my.run"
    path.write_bytes(run)
    table = GradeTable({qid: {b"d7": 1, b"d20": 2} for qid in (b"a", b"b", b"d")})
    rules = scanners.Rules(run_shape(path), "trec", None)

    whole = scanners.by_extension(path, table, rules, block=100)
    parts = scanners.by_extension(path, table, rules, block=100, worth=1)

    assert parts == whole
    assert whole is None or list(parts.hits) == list(whole.hits)


@pytest.mark.parametrize("seed", range(50))
def test_runs_at_random_give_the_same_in_parts(extension, tmp_path, monkeypatch, seed):
    rng, path = random.Random(seed), tmp_path / "my.run"
    monkeypatch.setattr(driving.os, "cpu_count", lambda: 2 + seed % 4)
    path.write_bytes(scanners.made_run(rng))
    table, rules = GradeTable(scanners.made_grades(rng)), scanners.made_rules(rng, run_shape(path))

    parts = scanners.by_extension(path, table, rules, block=rng.randint(1, 64), worth=1)

    assert parts == scanners.by_extension(path, table, rules, block=1 << 20)


def test_large_plain_file_is_parted_where_a_query_begins(tmp_path, monkeypatch):
    monkeypatch.setattr(driving.os, "cpu_count", lambda: 2)
    path = tmp_path / "my.run"
    path.write_bytes(queries(b"a", b"b", b"c"))

    (middle,) = driving.starts_of(path, worth=1)

    assert path.read_bytes()[middle:].startswith(b"c Q0 d1 1 ")
    assert driving.starts_of(path, worth=1 << 20) == []
    path.write_bytes(gzip.compress(queries(b"a", b"b", b"c")))
    assert driving.starts_of(path, worth=1) == []


def test_error_while_inflating_ahead_reaches_the_caller_and_ends_the_thread(extension, tmp_path):
    path = tmp_path / "my.run"
    path.write_bytes(gzip.compress(queries(b"a", depth=9000))[:-9])
    table = GradeTable({b"a": {b"d1": 1}})

    rules = scanners.Rules(Shape("trec", 1), "trec", None)

    assert "ends too early" in scanners.by_extension(path, table, rules, block=10).error
    path.write_bytes(gzip.compress(b"bad\n" + queries(b"a", depth=9000)))
    assert scanners.by_extension(path, table, rules, block=10) is None
    assert not [thread for thread in threading.enumerate() if thread.name == "inflating"]


# --- other shapes --------------------------------------------------------------------------


def test_ranking_of_three_columns_is_read_and_told(scan):
    problems = Problems()

    hits = scan(QRELS, b"# ours\nq\tx\t1\nq\tb\t3\nq\ta\t2\n", problems=problems)

    assert hits == {b"q": QueryHits(b"q", (Hit(2, 1), Hit(3, 2)), 3)}
    assert [str(warning) for warning in problems.warnings] == [
        "my.run:2: 3 columns; expected 6. Read as MS MARCO's query, document and rank: a score is "
        "minus the rank. Is it something else, write a TREC run."
    ]


def test_rankings_at_random_give_the_same_by_every_way(extension, memory):
    for seed in range(600):
        rng = random.Random(seed)
        memory.content = scanners.made_ranking(rng)
        table = GradeTable(scanners.made_grades(rng))
        rules = scanners.made_rules(rng, run_shape(ANYWHERE))
        assert rules.shape.kind == "three", seed
        block = rng.randint(1, 64)

        simply = scanners.by_sorting(ANYWHERE, table, rules)
        twin = scanners.by_twin(ANYWHERE, table, rules, block=rng.choice((block, 1 << 17)))
        quickly = scanners.by_extension(ANYWHERE, table, rules, block=block)

        assert twin == simply, seed
        assert quickly in (twin, None if twin.error else twin), seed


@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.parametrize("shape_of", [run_shape, qrels_shape])
def test_first_line_is_looked_for_in_64_kib(tmp_path, more, shape_of):
    """The last byte looked at is that of the third column, or the blank before it."""
    comment = b"#" * (65_536 - len(b"\nq a 1") + more)
    (tmp_path / "file").write_bytes(comment + b"\nq a 1\n")

    assert shape_of(tmp_path / "file") == (("three", 2) if not more else ("trec", 2))


@pytest.mark.parametrize(
    ("content", "kind"),
    [(b"PAR1", "parquet"), (b"PAR1PAR1", "parquet"), (b"PAR1\nPAR2", "trec"), (b"PAR", "trec")],
)
def test_parquet_is_known_by_both_its_ends(tmp_path, content, kind):
    (tmp_path / "run").write_bytes(content)

    assert run_shape(tmp_path / "run").kind == kind


def test_ranking_with_another_line_is_refused(scan):
    with pytest.raises(FileProblemsError) as caught:
        scan(QRELS, b"q a 1\nq b x\nq c\nq d 4 1\nq a 5\n")

    assert [problem.line for problem in caught.value.problems] == [2, 3, 4, 5]
    assert "expected 3 columns (query, document, whole-number rank)" in str(caught.value)


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"q Q0 a 1 2 t\n", "trec"),
        (b"", "trec"),
        (b"q a 1", "three"),
        (b"q Q0 184\n", "trec"),
        (b"q a -1\n", "trec"),
        (b'{"q": {}}', "json"),
        (b"\xef\xbb\xbf \n{}", "json"),
        (b"{q} Q0 a 1 2 t\n", "trec"),
        (b"PAR1 Q0 a 1 2 t\n", "trec"),
    ],
)
def test_kind_of_run_is_told_by_its_first_line(tmp_path, head, kind):
    (tmp_path / "run").write_bytes(head)

    assert run_shape(tmp_path / "run").kind == kind


@pytest.mark.parametrize(
    ("head", "kind", "line"),
    [
        (b"q 0 a 1\n", "trec", 1),
        (b"#\n\nq a 1\n", "three", 3),
        (b"query-id\tcorpus-id\tscore\n", "beir", 1),
        (b"q Q0 doc\n", "trec", 1),
        (b"query-id 0 corpus-id score\n", "trec", 1),
        (b"", "trec", 0),
    ],
)
def test_kind_of_qrels_is_told_by_its_first_line(tmp_path, head, kind, line):
    (tmp_path / "qrels").write_bytes(head)

    assert qrels_shape(tmp_path / "qrels") == (kind, line)


def as_json(rows):
    queries = {}
    for qid, docid, score in rows:
        queries.setdefault(qid, {}).update({docid: score} if docid else {})
    return json.dumps(queries)


@pytest.mark.parametrize("ties", scanners.TIES)
@pytest.mark.parametrize("depth", [None, 1, 2, 3, 99])
def test_run_gives_the_same_as_trec_json_and_parquet(scan, tmp_path, ties, depth):
    if ties == "expected" and depth:
        return
    rng = random.Random(3)
    rows = [
        (qid, docid, rng.choice((0.5, 1.0, 2.0)))
        for qid in ("q", "p", "none")
        for docid in ("c", "a", "x", "b", "y")
    ]
    (tmp_path / "json").write_text(as_json(rows), "utf-8")
    columns = [list(column) for column in zip(*rows, strict=True)]
    parquet(tmp_path / "parquet", **dict(zip(("qid", "docid", "score"), columns, strict=True)))
    lines = "".join(f"{qid} Q0 {docid} 1 {score} t\n" for qid, docid, score in rows)

    hits = scan(QRELS, lines.encode(), ties=ties, depth=depth)

    assert hits[b"none"].n_retrieved == min(depth or 5, 5)
    table = scan_qrels(tmp_path / "my.qrels")
    for kind in ("json", "parquet"):
        assert scan_run(tmp_path / kind, table, ties=ties, depth=depth) == hits


# --- answered with nothing -----------------------------------------------------------------

NOTHING = QueryHits(b"p", (), 0)


@pytest.mark.parametrize(
    "contents",
    [
        (b"query_id,docid,relevance\nq1,d 1,1\n", RUN),
        (QRELS, b"query_id;docid;score\nq1;d1;0,5\n"),
    ],
    ids=["qrels", "run"],
)
def test_a_table_with_commas_is_told_as_one(scan, contents):
    with pytest.raises(FileProblemsError) as caught:
        scan(*contents)

    assert all(
        "Is it a table with commas or semicolons" in problem.text
        for problem in caught.value.problems
    )


@pytest.mark.parametrize("packed", PACKED.values(), ids=PACKED)
def test_json_run_is_read_and_may_answer_with_nothing(scan, packed):
    run = b'{"q": {"a": 2, "x": 1.5, "b": 1e0}, "p": {}}'

    assert scan(QRELS, packed(run)) == {b"q": HITS[b"q"], b"p": NOTHING}


@pytest.mark.parametrize(
    ("run", "text"),
    [
        ('{"q": {"a": 1,\n}}', "my.run:2: is no JSON: "),
        ('{"q": {"a": "1"}}', "document 'a' of query 'q' has the score '1'; expected a number."),
        ('{"q": {"a": NaN}}', "has the score nan; expected a number."),
        ('{"q": {"a": true}}', "has the score True; expected a number."),
        ('{"q": {"a": 1, "a": 1}}', "document 'a' of query 'q' is there twice; drop one"),
        ('{"q": {}, "q": {}}', "query 'q' is there twice; drop one"),
        ('{"q": ["a"]}', "query 'q' holds no object; expected documents with their scores"),
        ('{"q": {"a": {"b": 1}}}', "document 'a' of query 'q' has the score {…}; expected a"),
        ('{"q": {"a": [1, 2]}}', "has the score […]; expected a number."),
        ('{"q": {"a": "%s"}}' % ("x" * 50), f"has the score '{'x' * 39};"),
        ('{"qid": "q"}\n{"qid": "p"}', "my.run:2: is no JSON: more follows the first object; exp"),
        ('{"q": {"\\ud800": 1}}', "is no UTF-8"),
        ('{"q": {"\x00": 1}}', "is no JSON: "),
        ('{"' + '[' * 9, "is no JSON: "),
        ('{"q": ' + '[' * 100_000, "is no JSON: "),
    ],
)  # fmt: skip
def test_json_that_is_no_run_is_refused(scan, run, text):
    with pytest.raises(FileProblemsError) as caught:
        scan(QRELS, run.encode())

    assert text in str(caught.value)
    # Of JSON that cannot be parsed the line is known, unless it is nested too deep.
    is_parsed = "is no JSON" not in text or run.count("[") > 99
    lines = [problem.line for problem in caught.value.problems]
    assert lines == [0 if is_parsed else run[:99].count("\n") + 1]


def test_all_that_is_wrong_with_a_json_run_is_told_and_the_rest_is_read(tmp_path):
    run, problems = tmp_path / "run", Problems()
    run.write_text(
        '{"p": 1, "q": {"a": "1", "b": 2, "b": 3, "c": 1}, "\\ud800": {}, "q": {}, "r": {"d": 1}}'
    )

    run_read = load_run(run, Shape("json"), problems)

    assert {qid: [(row.docid, row.line) for row in rows] for qid, rows in run_read.items()} == {
        b"q": [(b"b", 0), (b"c", 0)],
        b"r": [(b"d", 0)],
    }
    assert [problem.line for problem in problems.found] == [0] * 5
    with pytest.raises(FileProblemsError, match="is no JSON"):
        scan_run(written(tmp_path / "bad", b'{"q": {"\xff": 1}}'), GradeTable({}))


def test_all_that_is_wrong_with_a_parquet_run_is_told_and_the_rest_is_read(tmp_path):
    problems = Problems()
    parquet(
        tmp_path / "run",
        qid=["q", None, "q", "q", "q", "p", "q"],
        docid=["a", "a", "a", "b", None, "c", "d"],
        score=[1.0, 1.0, 2.0, None, None, 1.0, float("nan")],
    )

    run_read = load_run(tmp_path / "run", Shape("parquet"), problems)

    assert {qid: [(row.docid, row.line) for row in rows] for qid, rows in run_read.items()} == {
        b"q": [(b"a", 0)],
        b"p": [(b"c", 0)],
    }
    assert [(problem.line, problem.text[:5]) for problem in problems.found] == [
        *((0, f"row {n}") for n in (2, 3, 4, 7)),
    ]


def written(path, content):
    path.write_bytes(content)
    return path


def test_json_numbers_are_doubles_as_in_a_run(scan):
    run = b'{"q": {"a": 9007199254740993, "b": 9007199254740992, "x": -Infinity, "y": 1e999}}'

    assert scan(QRELS, run)[b"q"].hits == (Hit(2, 2), Hit(3, 1))


def parquet(path, **columns):
    import polars as pl

    pl.DataFrame(columns).write_parquet(path)


@pytest.mark.parametrize(("query", "document"), [("q_id", "doc_id"), ("qid", "docid")])
def test_parquet_run_is_read_and_may_answer_with_nothing(tmp_path, query, document):
    columns = {
        query: ["q", "p", "q", "q"],
        document: ["a", None, "x", "b"],
        "score": [2.0, None, 1.5, 1.0],
    }
    parquet(tmp_path / "run", **columns)

    hits = scan_run(tmp_path / "run", GradeTable({b"q": {b"a": 1, b"b": 2}, b"p": {b"a": 3}}))

    assert hits == {b"q": HITS[b"q"], b"p": NOTHING}


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ({"qid": ["q"], "score": [1.0]}, "no column doc_id or docid among qid, score"),
        ({"qid": ["q"], "docid": ["a"], "score": ["high"]}, "is no run: "),
        ({"qid": ["q"], "docid": ["a"], "score": [None]}, "row 1 (document 'a' of query 'q') has"),
        ({"qid": ["q"] * 2, "docid": ["a"] * 2, "score": [1, 2]}, "row 2 (document 'a' of query"),
        ({"qid": [None], "docid": ["a"], "score": [1.0]}, "row 1 has no query; expected an id"),
    ],
)
def test_parquet_that_is_no_run_is_refused(tmp_path, columns, text):
    parquet(tmp_path / "run", **columns)

    with pytest.raises(FileProblemsError) as caught:
        scan_run(tmp_path / "run", GradeTable({}))

    assert text in str(caught.value)
    assert [problem.line for problem in caught.value.problems] == [0]


def test_damaged_parquet_is_refused(tmp_path):
    parquet(tmp_path / "run", qid=["q"], docid=["a"], score=[1.0])
    data = (tmp_path / "run").read_bytes()
    (tmp_path / "run").write_bytes(data[:20] + data[-4:])

    with pytest.raises(FileProblemsError, match="run: is no run: "):
        scan_run(tmp_path / "run", GradeTable({}))


def test_query_answered_with_nothing_is_not_missing(scan, tmp_path):
    scan(QRELS, RUN.replace(b"p Q0 x 1 1 t\n", b""))
    (tmp_path / "answered").write_bytes(b"# all of them\nq\np\n")
    table = scan_qrels(tmp_path / "my.qrels")

    for answered in ([b"p"], ["q", "p"], tmp_path / "answered", str(tmp_path / "answered")):
        hits = scan_run(tmp_path / "my.run", table, answered=answered)
        assert hits == {b"q": HITS[b"q"], b"p": NOTHING}

    (tmp_path / "my.json").write_bytes(b'{"q": {"a": 1}, "p": {}}')
    for missing in ("zero", "skip"):
        result = evaluate(tmp_path / "my.qrels", tmp_path / "my.json", ["RR"], missing=missing)
        assert (result.means, result.n_queries, result.n_missing) == ({"RR": 0.5}, 2, 0)


def test_list_of_answered_queries_with_more_columns_is_refused(scan, tmp_path):
    (tmp_path / "answered").write_bytes(b"q\np what is this\n")

    with pytest.raises(FileProblemsError, match="answered:2: 4 columns; expected 1, the id of a q"):
        scan(QRELS, RUN, answered=tmp_path / "answered")


# --- from Python ---------------------------------------------------------------------------


def test_scanner_is_told_from_its_misuse(extension):
    module = choosing.built()
    table = module.Table()
    with pytest.raises(TypeError, match="expected a Table that is ended"):
        module.Scanner(table, 0, 0, False, False, True)
    with pytest.raises(TypeError, match="expected a Table that is ended"):
        module.Scanner("table", 0, 0, False, False, True)
    table.end()
    with pytest.raises(RuntimeError, match="fed after its end"):
        table.feed(b"")
    scanner = module.Scanner(table, 0, 0, False, False, True)
    with pytest.raises(RuntimeError, match="asked before its end"):
        scanner.results(Hit, Hit)
    with pytest.raises(TypeError):
        scanner.feed("text")
    scanner.end()
    with pytest.raises(TypeError, match="named tuples"):
        scanner.results(dict, Hit)
    with pytest.raises(RuntimeError, match="ended twice"):
        scanner.end()


def test_path_of_the_module_is_where_it_was_built(extension):
    built = Path(choosing.built().__file__)

    assert built.parent == Path(choosing.__file__).parent
    assert ".abi3." in built.name or os.name == "nt"
