import multiprocessing
import random
import subprocess
import sys
import threading

import pytest

from benchwright.corpora import store as corpus_store
from benchwright.corpora.store import CorpusReader, write_corpus
from benchwright.errors import FileProblemsError, Problems
from benchwright.files import external_sort
from benchwright.formats.beir import CorpusRow


def make_rows(n=1000):
    return [
        CorpusRow(
            line, f"d{line * 7919 % n}", f"title {line}", f"text\u2028{line}\n寿司", {"n": line}
        )
        for line in range(1, n + 1)
    ]


def write(rows, directory, **options):
    return write_corpus(
        rows, directory=directory, problems=Problems(), file="corpus.jsonl", **options
    )


@pytest.fixture
def small_parts(monkeypatch):
    """Make parts, blocks and row groups so small that a thousand rows need all of them."""
    monkeypatch.setattr(
        external_sort.ExternalSort.__init__, "__kwdefaults__", {"part_bytes": 9_000}
    )
    monkeypatch.setattr(external_sort, "BLOCK_BYTES", 2_000)
    monkeypatch.setattr(external_sort, "FAN_IN", 4)
    monkeypatch.setattr(corpus_store, "GROUP_BYTES", 2_000)
    monkeypatch.setattr(corpus_store, "BATCH_BYTES", 900)


@pytest.fixture
def corpus(tmp_path, small_parts):
    return write(make_rows(), tmp_path / "corpus")


@pytest.fixture
def reader(corpus):
    return CorpusReader(corpus.parquet, corpus.index)


def test_every_document_comes_back_whole_and_sorted_by_the_bytes_of_its_id(reader):
    expected = {row.docid: row for row in make_rows()}

    items = list(reader.iterate())

    assert [document.docid for document in items] == sorted(expected, key=str.encode)
    assert reader.n_documents == len(items) == 1000
    for document in items:
        row = expected[document.docid]
        assert (document.title, document.text, document.metadata) == (
            row.title,
            row.text,
            row.metadata,
        )


def test_a_document_is_found_by_its_id_and_an_unknown_id_is_not(reader):
    record = reader.get(["d0", "d999", "d500", "nowhere", "", "half\ud800"])

    assert set(record) == {"d0", "d999", "d500"}
    assert record["d500"].docid == "d500"
    assert record["d500"].text.startswith("text\u2028")


def test_every_single_document_is_found(reader):
    ids = [document.docid for document in reader.iterate()]

    assert all(reader.get([docid])[docid].docid == docid for docid in ids[::37])
    assert set(reader.get(ids)) == set(ids)


def test_missing_names_the_ids_the_corpus_does_not_have(reader):
    assert reader.missing(f"d{n}" for n in range(-2, 1003)) == {
        "d-2",
        "d-1",
        "d1000",
        "d1001",
        "d1002",
    }


def test_an_id_of_the_same_hash_is_not_taken_for_the_document(tmp_path, monkeypatch):
    def poor(ids):
        return real(docid[:1] for docid in ids)

    real = corpus_store._hashes
    monkeypatch.setattr(corpus_store, "_hashes", poor)
    summary = write([CorpusRow(n, f"a{n}", text=str(n)) for n in range(9)], tmp_path)
    reader = CorpusReader(summary.parquet, summary.index)

    assert reader.get(["a7", "a-other"])["a7"].text == "7"
    assert set(reader.get(["a7", "a-other"])) == {"a7"}
    assert reader.missing(["a3", "a-other"]) == {"a-other"}


def test_the_files_are_the_same_bytes_for_the_same_documents_in_any_order(
    tmp_path, corpus, monkeypatch
):
    shuffled = [row._replace(line=row.line + 5) for row in make_rows()]
    random.Random(3).shuffle(shuffled)
    monkeypatch.setattr(corpus_store, "BATCH_BYTES", 7_777)

    other = write(shuffled, tmp_path / "other")

    assert other.sha256 == corpus.sha256
    assert other.parquet.read_bytes() == corpus.parquet.read_bytes()
    assert other.index.read_bytes() == corpus.index.read_bytes()


def test_another_text_is_another_hash(tmp_path, corpus):
    rows = make_rows()
    rows[5] = rows[5]._replace(text="changed")

    assert write(rows, tmp_path / "other").sha256 != corpus.sha256


def test_duplicate_ids_are_told_with_both_lines_and_nothing_is_left(tmp_path, small_parts):
    rows = [*make_rows(), CorpusRow(2000, "d5"), CorpusRow(2001, "d5"), CorpusRow(2002, "é")]
    first = next(row.line for row in rows if row.docid == "d5")

    with pytest.raises(FileProblemsError) as raised:
        write(rows, tmp_path / "made")

    assert [str(problem) for problem in raised.value.problems] == [
        f"corpus.jsonl:{line}: document d5 was on line {first} already; keep one of them"
        for line in (2000, 2001)
    ]
    assert list((tmp_path / "made").iterdir()) == []


def test_more_duplicates_than_the_limit_stop_cleanly(tmp_path):
    rows = [CorpusRow(line, "same") for line in range(1, 500)]

    with pytest.raises(FileProblemsError, match="stopped after 100 problems"):
        write(rows, tmp_path / "made")

    assert list((tmp_path / "made").iterdir()) == []
    assert "parquet-sink" not in {thread.name for thread in threading.enumerate()}


def test_problems_of_the_reader_are_raised_with_the_duplicates(tmp_path):
    problems = Problems()

    def rows():
        yield CorpusRow(1, "d1")
        problems.add("corpus.jsonl", 2, "is not JSON")
        yield CorpusRow(3, "d1")
        yield CorpusRow(4, "d 4")

    with pytest.raises(FileProblemsError) as raised:
        write_corpus(rows(), directory=tmp_path, problems=problems, file="corpus.jsonl")

    assert sorted(problem.line for problem in raised.value.problems) == [2, 3, 4]


def test_a_corpus_without_documents_is_refused(tmp_path):
    with pytest.raises(FileProblemsError, match=r"corpus\.jsonl: holds no document"):
        write([], tmp_path / "made")

    assert list((tmp_path / "made").iterdir()) == []


def test_an_error_while_reading_leaves_nothing(tmp_path):
    def rows():
        yield CorpusRow(1, "d1")
        raise OSError("the disk went away")

    with pytest.raises(OSError, match="the disk went away"):
        write(rows(), tmp_path / "made")

    assert list((tmp_path / "made").iterdir()) == []


def test_a_failed_import_leaves_the_corpus_that_was_there(tmp_path):
    before = write([CorpusRow(1, "d1")], tmp_path)

    with pytest.raises(FileProblemsError):
        write([CorpusRow(1, "d1"), CorpusRow(2, "d1")], tmp_path)

    assert CorpusReader(before.parquet, before.index).missing(["d1"]) == set()


def test_ids_without_texts_make_a_corpus(tmp_path):
    summary = write([CorpusRow(n, f"d{n}") for n in range(30_000)], tmp_path)
    reader = CorpusReader(summary.parquet, summary.index)

    assert reader.get(["d29999"])["d29999"].metadata == {}
    assert reader.n_documents == sum(1 for _ in reader.iterate()) == 30_000
    assert reader.missing(["d30000", "d0"]) == {"d30000"}


def test_progress_is_told_on_the_thread_of_the_caller(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus_store, "PROGRESS_EVERY", 400)
    results = []

    write(
        make_rows(),
        tmp_path,
        progress=lambda done, total: results.append((done, total, threading.current_thread())),
    )

    assert [(done, total) for done, total, _ in results] == [(400, None), (800, None), (1000, 1000)]
    assert {thread for _, _, thread in results} == {threading.current_thread()}


def test_row_groups_hold_at_most_ten_thousand_rows(tmp_path):
    summary = write([CorpusRow(n, f"d{n}") for n in range(30_000)], tmp_path)

    assert CorpusReader(summary.parquet, summary.index)._group_rows() == 10_000


def test_importing_the_stores_does_not_import_polars():
    code = (
        "import sys, benchwright.corpora.store, benchwright.runs.store;"
        "sys.exit('polars' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_forked_worker_can_write_and_read(tmp_path):
    code = (
        "import os, sys, pathlib\n"
        "from benchwright.corpora.store import CorpusReader, write_corpus\n"
        "from benchwright.formats.beir import CorpusRow\n"
        "from benchwright.errors import Problems\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    made = write_corpus([CorpusRow(1, 'd1')], directory=pathlib.Path(sys.argv[1]),"
        " problems=Problems(), file='f')\n"
        "    os._exit(len(CorpusReader(made.parquet, made.index).get(['d1'])))\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )

    run = subprocess.run([sys.executable, "-c", code, tmp_path], check=False, timeout=60)

    assert run.returncode == 1  # the one document that was found


def _peak_megabytes(n, folder, results):
    import resource

    words = [f"w{i}" for i in range(3000)]
    rng = random.Random(1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rows = (
        CorpusRow(i, f"d{i * 7919 % n}", "t", " ".join(rng.choices(words, k=150))) for i in range(n)
    )
    write(rows, folder)
    results.put((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)


@pytest.mark.slow
@pytest.mark.in_thirds
def test_two_hundred_thousand_documents_need_no_more_memory_than_a_part_and_a_few_batches(tmp_path):
    """About 160 MB of text; the peak above an idle process was 145 MB when this was written."""
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    process = context.Process(target=_peak_megabytes, args=(200_000, tmp_path, results))

    process.start()
    peak = results.get(timeout=120)
    process.join()

    assert peak < 220
