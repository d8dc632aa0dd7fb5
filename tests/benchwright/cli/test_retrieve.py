"""`benchwright retrieve`: runs of sparse systems from files."""

import json
import os
import subprocess

import pytest

CORPUS = """\
{"_id": "d1", "title": "red", "text": "fish swim"}
{"_id": "d2", "title": "", "text": "blue birds"}
{"_id": "d3", "title": "", "text": "red red fishes"}
"""
QUERIES = '{"_id": "q1", "text": "fish"}\n{"_id": "q2", "text": "birds"}\n'
QUERIES += '{"_id": "q3", "text": "zebra"}\n'
GRADES = "q1 0 d1 1\nq1 0 d3 2\nq2 0 d2 1\nq2 0 gone 1\nq3 0 d1 1\n"
DOCUMENT_VECTORS = '{"id": "d1", "vector": {"red": 1.5, "fish": 2}}\n{"id": "d2", "vector": {}}\n'
QUERY_VECTORS = '{"id": "q1", "vector": {"red": 2}}\n{"id": "q2", "vector": {}}\n'


@pytest.fixture
def texts(files):
    held = {
        "corpus.jsonl": CORPUS,
        "corpus.tsv": "d1\tred fish swim\nd2\tblue birds\nd3\tred red fishes\n",
        "queries.jsonl": QUERIES,
        "queries.tsv": "q1\tfish\nq2\tbirds\nq3\tzebra\n",
        "grades.txt": GRADES,
        "documents.vec": DOCUMENT_VECTORS,
        "asked.vec": QUERY_VECTORS,
    }
    for name, content in held.items():
        (files / name).write_text(content)
    return files


def documents(output):
    return [(line.split()[0], line.split()[2]) for line in output.splitlines()]


FOUND = [("q1", "d3"), ("q1", "d1"), ("q2", "d2")]


@pytest.mark.parametrize("corpus", ["corpus.jsonl", "corpus.tsv"])
@pytest.mark.parametrize("queries", ["queries.jsonl", "queries.tsv"])
def test_run_goes_to_standard_output(texts, benchwright, corpus, queries):
    done = benchwright("retrieve", corpus, queries)

    assert done.exit_code == 0, done.stderr
    assert documents(done.stdout) == FOUND
    assert "3 queries over 3 documents, 1 of them without a result." in done.stderr


@pytest.mark.parametrize(
    "options", [["--shards", "2"], ["--shards", "9"], ["--cache", "kept"]], ids=" ".join
)
def test_shards_and_cache_give_the_same_bytes(texts, benchwright, options):
    whole = benchwright("retrieve", "corpus.jsonl", "queries.jsonl")

    for _ in range(2):
        done = benchwright("retrieve", "corpus.jsonl", "queries.jsonl", *options)
        assert (done.exit_code, done.stdout) == (0, whole.stdout)


def test_cache_of_another_file_is_told(texts, benchwright):
    arguments = ("retrieve", "corpus.jsonl", "queries.jsonl", "--cache", "kept")
    benchwright(*arguments)
    (texts / "corpus.jsonl").write_text(CORPUS + '{"_id": "d4", "text": "fish fish"}\n')

    done = benchwright(*arguments)

    assert ("q1", "d4") in documents(done.stdout)
    assert "the cache was made with another corpus, so it was made anew" in done.stderr


def test_system_language_parameters_and_tag_are_chosen(texts, benchwright):
    done = benchwright(
        *("retrieve", "corpus.jsonl", "queries.jsonl", "--system", "bm25", "--language", "german"),
        *("--k1", "0.9", "--b", "0.4", "--tag", "mine", "-k", "1"),
    )

    assert documents(done.stdout) == [("q1", "d1"), ("q2", "d2")]
    assert done.stdout.split()[5] == "mine"
    assert "BM25 (k1 = 0.9, b = 0.4) over words" in done.stderr


def test_scores_are_shown_with_slices_and_a_baseline(texts, benchwright):
    benchwright("retrieve", "corpus.jsonl", "queries.jsonl", "--system", "bm25", "-o", "base.run")
    (texts / "slices.tsv").write_text("q1\tfirst\n")

    done = benchwright(
        *("retrieve", "corpus.jsonl", "queries.jsonl", "-o", "new.run", "--qrels", "grades.txt"),
        *("--slices", "slices.tsv", "--baseline", "base.run", "--format", "json"),
    )

    report = json.loads(done.stdout)
    # d3 with grade 2 before d1 with grade 1: ideal; q2 misses one of two; q3 finds nothing.
    assert report["slices"]["first"]["nDCG(dcg='exp-log2')@10"] == 1.0
    assert report["means"]["Recall@10"] == pytest.approx((1 + 0.5 + 0) / 3)
    assert report["facts"]["system"] == "bm25-stem"
    differences = {test["measure"]: test["difference"] for test in report["significance"]}
    assert differences["Recall@10"] == pytest.approx(0.5 / 3)
    assert "judged documents that the corpus lacks: 1, 1 of them relevant" in done.stderr
    assert documents((texts / "new.run").read_text()) == FOUND


def test_of_one_query_no_difference_to_a_baseline_is_told_and_that_is_said(texts, benchwright):
    words = ("retrieve", "corpus.jsonl", "queries.jsonl", "--qrels", "one.txt", "-o", "new.run")
    (texts / "one.txt").write_text("q1 0 d1 1\n")
    (texts / "base.run").write_text("q1 Q0 d1 1 1 b\n")

    done = benchwright(*words, "--baseline", "base.run")

    assert "a difference to the baseline needs two or more" in done.stderr
    assert "needs two" not in benchwright(*words).stderr


def test_scores_are_a_table_unless_asked_otherwise(texts, benchwright):
    done = benchwright(
        *("retrieve", "corpus.jsonl", "queries.jsonl", "-o", "new.run", "--qrels", "grades.txt"),
        *("--gain", "linear"),
    )

    assert "all (3)" in done.stdout
    assert "nDCG@10" in done.stdout


def test_vectors_are_searched_with_or_without_idf(texts, benchwright):
    plain = benchwright("retrieve", "documents.vec", "asked.vec", "--vectors")
    weighted = benchwright("retrieve", "documents.vec", "asked.vec", "--vectors", "--idf")

    assert plain.stdout == "q1 Q0 d1 1 3.0 vectors\n"
    assert float(weighted.stdout.split()[4]) == pytest.approx(3 * 0.6931471805599453)


def test_vectors_that_are_taken_for_texts_are_told_for_what_they_are(texts, benchwright):
    (texts / "splade.npz").write_bytes(b"PK")

    done = benchwright("retrieve", "splade.npz", "queries.jsonl")

    assert done.exit_code == 2
    assert "an .npz holds vectors, and texts are searched. Give --vectors." in done.stderr


@pytest.mark.parametrize("names", [("none", "asked.vec"), ("documents.vec", "none")])
def test_a_file_without_a_vector_is_refused(texts, benchwright, names):
    (texts / "none").write_text("")

    done = benchwright("retrieve", *names, "--vectors", "-o", "new.run")

    assert done.exit_code == 1
    assert "none: holds no vector; expected at least one" in done.stderr
    assert not (texts / "new.run").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--language", "klingon"], "'klingon' is no language we know"),
        (["--shards", "2", "--cache", "kept"], "--shards goes with neither"),
        (["--slices", "grades.txt"], "--slices needs grades"),
        (["--qrels", "grades.txt"], "Name a file for the run"),
        (["--vectors"], "corpus.jsonl:1: expected {"),
        (["-k", "0"], "-k"),
        (["--b", "2"], "--b"),
        (["--b", "nan"], "nan is not in the range 0<=x<=1"),
        (["--k1", "inf"], "inf is not in the range x>=0"),
        (["--gain", "linear"], "--gain needs grades"),
        (["--idf"], "--idf is of --vectors, and would count for nothing"),
        (["--system", "tfidf-word", "--k1", "0.9"], "--k1 is of BM25, and would"),
        (["--vectors", "--language", "de"], "--language is of texts, and would"),
        (["--vectors", "--cache", "kept"], "--cache is of texts, and would"),
    ],
)
def test_what_does_not_go_is_refused_with_what_to_do(texts, benchwright, options, words):
    done = benchwright("retrieve", "corpus.jsonl", "queries.jsonl", *options)

    assert done.exit_code != 0
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_wrong_lines_of_a_corpus_are_told_and_no_run_is_left(texts, benchwright):
    (texts / "corpus.jsonl").write_text(CORPUS + "{\n" + '{"_id": "d1", "text": ""}\n')

    done = benchwright("retrieve", "corpus.jsonl", "queries.jsonl", "-o", "new.run")

    assert done.exit_code != 0
    assert "corpus.jsonl:4" in done.stderr
    assert not (texts / "new.run").exists()


@pytest.mark.parametrize("options", [[], ["--shards", "3"]], ids=["whole", "in shards"])
def test_document_given_twice_is_refused_by_name(texts, benchwright, options):
    (texts / "corpus.jsonl").write_text(CORPUS + '{"_id": "d1", "text": ""}\n')

    done = benchwright("retrieve", "corpus.jsonl", "queries.jsonl", *options)

    assert done.exit_code != 0
    assert "'d1' is in the corpus 2 times" in done.stderr


def test_a_pipe_or_a_device_is_written_as_it_is(texts, benchwright):
    os.mkfifo(texts / "pipe")
    reader = subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE, text=True, cwd=texts)
    done = benchwright("retrieve", "corpus.jsonl", "queries.jsonl", "-o", "pipe")

    assert done.exit_code == 0, done.stderr
    assert documents(reader.communicate(timeout=60)[0]) == FOUND
    assert (texts / "pipe").is_fifo()


def test_a_dash_is_standard_output(texts, benchwright):
    done = benchwright("retrieve", "corpus.jsonl", "queries.jsonl", "-o", "-")
    scored = benchwright(
        "retrieve", "corpus.jsonl", "queries.jsonl", "-o", "-", "--qrels", "grades.txt"
    )

    assert (documents(done.stdout), (texts / "-").exists()) == (FOUND, False)
    assert (scored.exit_code, "Name a file for the run (-o)" in scored.stderr) == (2, True)


def test_a_run_that_breaks_off_leaves_nothing(texts, benchwright, monkeypatch):
    def broken(rows):
        yield b"q1 Q0 d3 1 1.0 bm25\n"
        raise KeyboardInterrupt

    monkeypatch.setattr("benchwright.formats.trec.write_run", broken)
    (texts / "out").mkdir()
    done = benchwright("retrieve", "corpus.jsonl", "queries.jsonl", "-o", "out/bm25.run")

    assert (done.exit_code, list((texts / "out").iterdir())) == (130, [])


def test_a_folder_that_is_not_there_is_told_by_the_name_given(texts, benchwright):
    done = benchwright("retrieve", "corpus.jsonl", "queries.jsonl", "-o", "nowhere/bm25.run")

    assert done.exit_code == 2
    assert done.stderr.endswith("Error: nowhere/bm25.run: No such file or directory.\n")
