"""Collections of every layout imported, with what their files say of queries; real ones too."""

import gzip
import io
import json
import os
import zipfile
from pathlib import Path

import polars as pl
import pytest
from django.core.management import CommandError, call_command

from benchmarks_app.common.selectors.reading import benchmark_documents, qrels_of, run_path
from benchmarks_app.families.services import changes
from benchmarks_app.models import (
    Benchmark,
    FamilyChange,
    FamilyLink,
    Job,
    Qrel,
    QrelSet,
    Query,
    QueryFamily,
    Slice,
)
from tests import factories

pytestmark = pytest.mark.django_db
DATA = Path(os.environ.get("BENCHWRIGHT_TEST_DATA", Path(__file__).parents[4] / "shared" / "data"))
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"BENCHWRIGHT_TEST_DATA: no {DATA}")
CORPUS = b'{"_id": "d1", "title": "", "text": "one"}\n{"_id": "d2", "title": "", "text": "two"}\n'
QUERIES = b"".join(b'{"_id": "q%d", "text": "query %d"}\n' % (n, n) for n in (1, 2, 3))
HEADER = b"query-id\tcorpus-id\tscore\n"
FAMILIES = b"query-id\tfamily\nq1\tq1\nq2\tq1\nq3\tq3\n"


@pytest.fixture
def texts() -> Benchmark:
    return factories.texts_benchmark("texts")


def zipped(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def take(into: Benchmark, content: bytes, name: str, **options) -> Job:
    return factories.done(factories.imported(into, content, name, **options))


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"queries.jsonl": QUERIES + b'{"_id": "q4", "text": ""}\n'}, ("queries.jsonl", 4)),
        ({"families.tsv": FAMILIES + b"q3\ta b\n"}, ("families.tsv", 5)),
    ],
)
def test_queries_of_a_file_with_a_wrong_line_are_not_said_to_lack(texts, wrong, told):
    members = {
        "corpus.jsonl": CORPUS,
        "queries.jsonl": QUERIES,
        "qrels/test.tsv": HEADER + b"q1\td1\t1\nq2\td1\t1\nq3\td1\tmany\n",
        "slices.tsv": b"query-id\tslice\nq1\thead\n",
        "weights.tsv": b"query-id\tweight\nq1\t2\n",
    }

    job = factories.imported(texts, zipped(members | wrong), "a.zip")

    problems = [(problem["file"], problem["line"]) for problem in job.problems]
    assert problems == [told, ("qrels/test.tsv", 4)]


def families(of: Benchmark) -> set[frozenset[str]]:
    grouped: dict[int, set[str]] = {}
    for qid, family in of.queries.committed().values_list("qid", "family"):
        grouped.setdefault(family, set()).add(qid)
    return {frozenset(qids) for qids in grouped.values()}


# --- what files say of queries -------------------------------------------------------------------


def test_families_slices_and_weights_of_a_collection_are_kept(texts):
    members = {
        "corpus.jsonl": CORPUS,
        "queries.jsonl": QUERIES,
        "qrels/test.tsv": HEADER + b"q1\td1\t2\n",
        "families.tsv": FAMILIES,
        "slices.tsv": b"query-id\tslice\nq1\thead\nq3\ttail\nq3\thead\n",
        "weights.tsv": b"query-id\tweight\nq1\t0.30000000000000004\n",
    }

    take(texts, zipped(members), "ours.zip")

    assert families(texts) == {frozenset({"q1", "q2"}), frozenset({"q3"})}
    assert dict(texts.queries.values_list("qid", "family__split")) == {
        "q1": "test",
        "q2": "test",
        "q3": "",
    }
    held = {
        row.name: set(row.members.values_list("query__qid", flat=True))
        for row in Slice.objects.all()
    }
    assert held == {"head": {"q1", "q3"}, "tail": {"q3"}}
    assert texts.queries.get(qid="q1").weight == 0.1 + 0.2
    assert FamilyLink.objects.get().reason == "given"


def test_a_query_that_is_not_here_is_told_with_the_file_that_names_it(texts):
    members = {
        "queries.jsonl": QUERIES,
        "families.tsv": FAMILIES,
        "weights.tsv": b"query-id\tweight\nq9\t1\n",
    }

    job = factories.imported(texts, zipped(members), "ours.zip")

    assert [problem["file"] for problem in job.problems] == ["weights.tsv"]


def test_a_file_of_families_regroups_queries_that_are_here(texts):
    take(texts, QUERIES.replace(b"}\n", b', "metadata": {"family": "all"}}\n'), "queries.jsonl")
    assert len(families(texts)) == 1

    take(texts, FAMILIES, "families.tsv")

    assert families(texts) == {frozenset({"q1", "q2"}), frozenset({"q3"})}
    change = FamilyChange.objects.get()
    assert sorted(len(grades) for key, grades in change.before.items() if key.isdecimal()) == [3]
    assert sorted(len(grades) for key, grades in change.after.items() if key.isdecimal()) == [1, 2]
    assert not QueryFamily.objects.filter(queries=None).exists()


def test_what_was_said_of_a_family_is_not_said_of_what_a_file_makes_of_it(texts):
    take(texts, QUERIES, "queries.jsonl")
    first, second = (texts.queries.get(qid=qid).family for qid in ("q1", "q2"))
    changes.confirm_family(family=first, actor=factories.user("keeper"))
    texts.queries.filter(qid="q3").update(family=second)
    QueryFamily.objects.filter(pk=second.pk).update(is_flagged=True, doubt=1)

    job = take(texts, FAMILIES.replace(b"q3\tq3\n", b""), "families.tsv")

    assert job.result["made"] == ["1 family of 2 queries"]
    rows = QueryFamily.objects.exclude(queries=None).distinct().order_by("pk")
    assert list(rows.values_list("reviewed_at", "is_flagged", "doubt")) == [
        (None, False, 0.0),  # q1 and q2: who reviewed q1 has not seen q2
        (None, False, 0.0),  # q3, of which no pair is left to be looked at
    ]


def test_families_of_a_file_can_be_undone_with_their_splits(texts):
    take(texts, QUERIES, "queries.jsonl")
    QueryFamily.objects.filter(queries__qid="q2").update(split="test")
    take(texts, FAMILIES, "families.tsv")
    assert texts.queries.get(qid="q1").family.split == "test"

    changes.undo_change(change=FamilyChange.objects.get(), actor=factories.user("keeper"))

    assert len(families(texts)) == 3
    splits = dict(texts.queries.values_list("qid", "family__split"))
    assert splits == {"q1": "", "q2": "test", "q3": ""}


def test_families_over_two_splits_are_refused_and_nothing_changes(texts):
    take(texts, QUERIES, "queries.jsonl")
    for qid, split in (("q1", "train"), ("q2", "test")):
        QueryFamily.objects.filter(queries__qid=qid).update(split=split)

    job = factories.imported(texts, FAMILIES, "families.tsv")

    assert job.state == Job.State.FAILED
    assert "q1 is in train, q2 is in test" in job.error
    assert "Put both queries into one split" in job.error
    assert len(families(texts)) == 3


def test_families_of_a_file_hide_no_grade_that_was_public(texts):
    take(texts, QUERIES, "queries.jsonl")
    texts.queries.filter(qid="q1").update(exposed_at=factories.now())
    QueryFamily.objects.filter(queries__qid="q2").update(split="test")
    Benchmark.objects.filter(pk=texts.pk).update(hidden_splits=["test"])

    job = factories.imported(texts, FAMILIES, "families.tsv")

    assert job.state == Job.State.FAILED
    assert "(q1)" in job.error
    assert len(families(texts)) == 3


def test_qrels_that_put_a_family_on_two_sides_are_refused(texts):
    members = {
        "queries.jsonl": QUERIES,
        "families.tsv": FAMILIES,
        "qrels/train.tsv": HEADER + b"q1\td1\t1\n",
        "qrels/test.tsv": HEADER + b"q2\td1\t1\n",
    }

    job = factories.imported(texts, zipped(members), "leaky.zip")

    assert job.state == Job.State.FAILED
    assert "'q2' is in test and 'q1' is in train" in job.error
    assert not Query.objects.exists()
    assert not Qrel.objects.exists()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("families.tsv", b"query-id\tfamily\nq9\tq1\n", "query 'q9' is not in the benchmark"),
        ("slices.tsv", b"query-id\tslice\nq9\thead\n", "query 'q9' is not in the benchmark"),
        ("weights.tsv", b"query-id\tweight\nq1\t-1\n", "expected a number above 0"),
    ],
)
def test_files_about_queries_that_are_not_here_say_so(texts, name, content, words):
    take(texts, QUERIES, "queries.jsonl")

    job = factories.imported(texts, content, name)

    assert job.state == Job.State.FAILED
    assert words in job.problems[0]["text"]


def test_columns_of_no_field_stay_with_the_query(texts):
    content = b'qid,text,team,last_seen,tags,clicks\nq1,how,web,2024-05-01,a; b,"{""d1"": 2}"\n'

    take(texts, content, "queries.csv")

    query = texts.queries.get()
    assert query.metadata == {"team": "web", "tags": ["a", "b"]}
    assert query.last_seen_at.isoformat() == "2024-05-01T00:00:00+00:00"
    assert query.clicks == {"d1": 2}


def test_a_split_that_is_not_ours_is_told_and_validation_is_dev(texts):
    members = {
        "queries.jsonl": QUERIES,
        "qrels/validation.tsv": HEADER + b"q1\td1\t1\n",
        "qrels/holdout.tsv": HEADER + b"q2\td1\t1\n",
    }

    job = take(texts, zipped(members), "x.zip")

    assert texts.queries.get(qid="q1").family.split == "dev"
    assert any(
        "'holdout' is none of the splits dev, test, train" in note for note in job.result["notes"]
    )


# --- layouts of the field ------------------------------------------------------------------------


def test_miracl_with_topics_qrels_and_passages(texts):
    corpus = [{"docid": f"7#{n}", "title": "Nairobi", "text": f"passage {n}"} for n in range(3)]
    members = {
        "docs-0.jsonl.gz": gzip.compress("\n".join(map(json.dumps, corpus)).encode()),
        "topics.miracl-v1.0-sw-dev.tsv": b"6\tBandari iko wapi?\n",
        "qrels.miracl-v1.0-sw-dev.tsv": b"6\tQ0\t7#0\t1\n6\tQ0\t7#2\t0\n",
    }

    take(texts, zipped(members), "miracl-sw.zip")

    query = texts.queries.get()
    assert (query.qid, query.lang) == ("6", "sw")
    assert list(qrels_of(texts.qrel_sets.get())) == [("6", "7#0", 1), ("6", "7#2", 0)]
    assert texts.current_corpus_version.n_documents == 3


def test_miracl_as_its_repository_has_it_keeps_its_splits(texts):
    corpus = [{"docid": f"7#{n}", "title": "Nairobi", "text": f"passage {n}"} for n in range(3)]
    members = {
        "corpus/docs-0.jsonl.gz": gzip.compress("\n".join(map(json.dumps, corpus)).encode()),
        "topics/topics.miracl-v1.0-sw-dev.tsv": b"6\tBandari iko wapi?\n",
        "topics/topics.miracl-v1.0-sw-train.tsv": b"1\tLini?\n",
        "qrels/qrels.miracl-v1.0-sw-dev.tsv": b"6\tQ0\t7#0\t1\n6\tQ0\t7#9\t0\n",
        "qrels/qrels.miracl-v1.0-sw-train.tsv": b"1\tQ0\t7#1\t1\n",
    }

    job = take(texts, zipped(members), "miracl-sw.zip")

    assert {q.qid: q.family.split for q in texts.queries.all()} == {"6": "dev", "1": "train"}
    assert job.result["notes"] == [
        "2 of 3 grades count as relevant (from grade 1 on).",
        "1 of 3 graded documents is not in the corpus, such as '7#9'. It was cut, or is another "
        "version: no system can find them.",
    ]


def test_qrels_of_which_no_query_is_known_say_so_with_counts(texts):
    take(texts, QUERIES, "queries.jsonl")
    rows = b"".join(b"%03d 0 d1 1\n" % n for n in (1, 2, 3, 4))

    job = factories.imported(texts, rows, "qrels.trec")

    assert job.problems[0] == {
        "file": "qrels.trec",
        "line": 0,
        "text": "its first 4 rows: 0 of the 4 queries of the qrels are among the 3 queries; 4 are "
        "not ('001', '002', '003', …). They are the same numbers written otherwise: '001' in the "
        "qrels, 'q1' among the queries. Write both alike.",
    }
    assert job.problems[1]["text"].startswith("query '001' is not in the benchmark")


def test_training_triples_and_candidates_are_no_qrels(texts):
    members = {
        "collection.tsv": b"0\tbread\n1\tsoup\n",
        "queries.dev.tsv": b"9\twhat is bread\n",
        "qrels.dev.tsv": b"9\t0\t0\t1\n",
        "triples.train.ids.small.tsv": b"20\t0\t7000001\n20\t1\t7000002\n",
        "top1000.dev": b"9\t0\twhat is bread\tbread\n",
    }

    take(texts, zipped(members), "msmarco.zip")

    assert list(qrels_of(texts.qrel_sets.get())) == [("9", "0", 1)]
    assert texts.current_corpus_version.n_documents == 2


def test_rows_with_positive_and_negative_passages_are_queries_grades_and_a_first_corpus(texts):
    row = {
        "query_id": "6",
        "query": "Bandari iko wapi?",
        "positive_passages": [{"docid": "7#0", "title": "T", "text": "x"}],
        "negative_passages": [{"docid": "7#2", "title": "T", "text": "y"}],
    }

    job = take(texts, json.dumps(row).encode() + b"\n", "dev.jsonl")

    assert list(qrels_of(texts.qrel_sets.get())) == [("6", "7#0", 1), ("6", "7#2", 0)]
    assert texts.current_corpus_version.n_documents == 2
    assert any("judged passages alone" in note for note in job.result["notes"])


def test_mmarco_has_documents_of_one_language_and_queries_of_another(texts):
    members = {
        "collections/german_collection.tsv": b"0\tDas Manhattan-Projekt\n1\tEin Atom\n",
        "queries/french_queries.dev.small.tsv": b"9\tqu'est-ce qu'un atome\n",
        "qrels.dev.small.tsv": b"9\t0\t1\t1\n",
        "runs/run.bm25.tsv": b"9\t1\t1\n9\t0\t2\n",
    }

    take(texts, zipped(members), "mmarco.zip")

    assert texts.queries.get().lang == "fr"
    assert benchmark_documents(texts, ["1"])["1"].text == "Ein Atom"
    assert list(qrels_of(texts.qrel_sets.get())) == [("9", "1", 1)]
    run = texts.runs.get()
    assert [row.docid for row in _top(run)] == ["1", "0"]


def _top(run):
    from benchwright.runs.store import top_k

    return list(top_k(run_path(run), 10))


def test_a_translation_of_queries_that_are_here_is_refused_with_advice(texts):
    take(texts, b"9\twhat is an atom\n", "english_queries.tsv")

    job = factories.imported(texts, b"9\twas ist ein Atom\n", "german_queries.tsv")

    assert "need a benchmark of their own" in job.problems[0]["text"]


def test_a_dataset_repository_of_parquet_files_is_one_import(texts):
    def parquet(frame: dict) -> bytes:
        out = io.BytesIO()
        pl.DataFrame(frame).write_parquet(out)
        return out.getvalue()

    members = {
        "README.md": b"---\nlicense: mit\n---\n",
        "corpus/train-00000-of-00002.parquet": parquet(
            {"_id": ["d1"], "title": [""], "text": ["x"]}
        ),
        "corpus/train-00001-of-00002.parquet": parquet(
            {"_id": ["d2"], "title": [""], "text": ["y"]}
        ),
        "queries/train-00000-of-00001.parquet": parquet({"_id": ["q1"], "text": ["what"]}),
        "qrels/test-00000-of-00001.parquet": parquet(
            {"query-id": ["q1"], "corpus-id": ["d2"], "score": [2]}
        ),
    }

    take(texts, zipped(members), "hub.zip")

    assert texts.current_corpus_version.n_documents == 2
    assert list(qrels_of(texts.qrel_sets.get())) == [("q1", "d2", 2)]
    assert texts.queries.get().family.split == "test"


def test_what_a_run_says_of_itself_is_kept(texts):
    take(texts, CORPUS, "corpus.jsonl")
    take(texts, QUERIES, "queries.jsonl")
    lines = b"# ir_metadata.start\n# tag: bm25\n# method:\n#   k1: 1.2\n# ir_metadata.end\n"

    take(texts, lines + b"q1 Q0 d1 1 2.5 t\n", "mine.run")

    assert texts.runs.get().metadata == {"ir_metadata": {"tag": "bm25", "method": {"k1": 1.2}}}


# --- the command ---------------------------------------------------------------------------------


def test_import_file_tells_each_file_by_its_content(texts, tmp_path, capsys):
    factories.member(texts, "olga", "owner")
    (tmp_path / "docs.csv").write_text("doc,words\nd1,one\nd2,two\n")
    (tmp_path / "q.jsonl").write_bytes(QUERIES)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "x.run").write_text("q1 Q0 d1 1 2.5 t\n")

    mapping = {"map": ["id=doc", "text=words"], "kind": "documents"}
    call_command("import_file", "texts", tmp_path / "docs.csv", **mapping)
    call_command("import_file", "texts", tmp_path / "q.jsonl", tmp_path / "folder")

    assert texts.current_corpus_version.n_documents == 2
    assert texts.queries.count() == 3
    assert texts.runs.get().name == "x"
    assert "imported 3 queries" in capsys.readouterr().out


def test_import_file_refuses_a_mapping_that_is_none(texts, tmp_path):
    factories.member(texts, "olga", "owner")
    (tmp_path / "docs.csv").write_text("doc,words\nd1,one\n")

    with pytest.raises(CommandError, match="'id' is not field=column"):
        call_command("import_file", "texts", tmp_path / "docs.csv", map=["id"])


def test_import_file_asks_for_the_grade_and_prints_the_grades_by_number(texts, tmp_path, capsys):
    factories.member(texts, "olga", "owner")
    (tmp_path / "q.jsonl").write_bytes(QUERIES)
    (tmp_path / "rated.csv").write_text("query_id,doc_id,rating\nq1,d1,3\nq1,d2,0\nq2,d1,0\n")
    (tmp_path / "odd.csv").write_text("query_id,doc_id,stars\nq1,d1,3\n")

    call_command("import_file", "texts", tmp_path / "q.jsonl", tmp_path / "rated.csv")
    with pytest.raises(CommandError, match=r"for the grade: is it stars.*--every-row-relevant"):
        call_command("import_file", "texts", tmp_path / "odd.csv")
    call_command("import_file", "texts", tmp_path / "odd.csv", every_row_relevant=True)

    printed = capsys.readouterr().out
    assert "imported qrels 'rated' with 3 grades (0: 2, 3: 1)" in printed
    assert "imported qrels 'odd' with 1 grade (1: 1)" in printed


def test_import_file_takes_the_other_files_where_a_bad_one_is_left_out(texts, tmp_path, capsys):
    factories.member(texts, "olga", "owner")
    (tmp_path / "a.csv").write_text("qid,text\nq7,\n")
    (tmp_path / "b.jsonl").write_bytes(QUERIES)

    call_command(
        "import_file", "texts", tmp_path / "a.csv", tmp_path / "b.jsonl", leave_out="files"
    )

    assert texts.queries.count() == 3
    assert "file left out" in capsys.readouterr().err


def test_import_file_fails_where_every_file_was_left_out(texts, tmp_path):
    factories.member(texts, "olga", "owner")
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("qid,text\nq7,\n")

    with pytest.raises(CommandError, match="no file is left"):
        call_command(
            "import_file", "texts", tmp_path / "a.csv", tmp_path / "b.csv", leave_out="files"
        )


def import_with(command, path, **options):
    """Import a folder by the command that takes such, or the qrels in it by another."""
    if command == "import_trec":
        call_command(command, "texts", qrels=next(path.glob("qrels/*")), **options)
    else:
        call_command(command, "texts", path, **options)


GRADED = [("q1", "d1", "2"), ("q1", "d2", "high"), ("q2", "d1", "1")]
IMPORTS = ["import_file", "import_beir", "import_trec"]


@pytest.fixture
def folder(texts, tmp_path):
    factories.member(texts, "olga", "owner")
    take(texts, QUERIES, "q.jsonl")
    (tmp_path / "set" / "qrels").mkdir(parents=True)
    (tmp_path / "set" / "queries.jsonl").write_bytes(QUERIES)
    return tmp_path / "set"


@pytest.mark.parametrize("command", IMPORTS)
def test_each_command_takes_that_every_row_is_relevant(texts, folder, command):
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\nq1\td1\nq2\td1\n")

    with pytest.raises(CommandError):
        import_with(command, folder)
    import_with(command, folder, every_row_relevant=True)

    assert set(Qrel.objects.values_list("docid", "grade")) == {("d1", 1)}


@pytest.mark.parametrize("command", IMPORTS)
def test_each_command_leaves_bad_records_out(texts, folder, command, capsys):
    header, middle = ("", "0 ") if command == "import_trec" else ("query-id corpus-id score\n", "")
    rows = "".join(f"{q} {middle}{d} {g}\n" for q, d, g in GRADED)
    (folder / "qrels" / "test.tsv").write_text((header + rows).replace(" ", "\t"))

    with pytest.raises(CommandError, match="high"):
        import_with(command, folder)
    import_with(command, folder, leave_out="records")

    assert Qrel.objects.count() == 2
    assert "1 bad record was left out" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", ["import_run", "import_log", "grade_clicks", "check_contamination"]
)
def test_command_that_is_given_a_folder_in_place_of_a_file_says_so(texts, tmp_path, command):
    factories.member(texts, "olga", "owner")

    with pytest.raises(CommandError, match="Is a directory"):
        call_command(command, "texts", str(tmp_path))


def test_files_of_a_collection_that_nobody_can_tell_are_named(texts, folder, capsys):
    (folder / "README.md").write_text("# Queries")
    (folder / "a.qrels").write_text("q1 0 d1 2\nq1 0 d2 high\n")
    (folder / "b.csv").write_bytes(b"%PDF-1.7")

    call_command("import_beir", "texts", folder)

    text = capsys.readouterr().err
    assert "file left out: a.qrels: Its columns do not say what it is" in text
    assert "file left out: b.csv: " in text
    assert "is a PDF" in text
    assert "README" not in text


def test_import_trec_takes_the_other_files_where_a_bad_one_is_left_out(texts, folder, capsys):
    (folder / "a.qrels").write_text("q1 0 d1 2\nq1 0 d2 high\n")
    (folder / "ids").write_text("d1\nd2\n")
    files = {"ids": folder / "ids", "qrels": folder / "a.qrels"}

    call_command("import_trec", "texts", leave_out="files", **files)

    assert texts.current_corpus_version.n_documents == 2
    assert not QrelSet.objects.exists()
    assert "file left out" in capsys.readouterr().err


def test_lines_of_trec_without_a_grade_are_relevant_by_their_third_column(texts, folder):
    (folder / "a.qrels").write_text("q1 0 7\nq1 0 8\nq2 0 7\nq2 0 9\n")

    call_command("import_trec", "texts", qrels=folder / "a.qrels", every_row_relevant=True)

    assert set(Qrel.objects.values_list("docid", "grade")) == {("7", 1), ("8", 1), ("9", 1)}


# --- what judges see -----------------------------------------------------------------------------


def test_metadata_that_the_owner_picked_is_on_the_card_and_no_other(texts):
    from annotation.judging.services.showing import _facts, corpus_rows

    row = {
        "_id": "d1",
        "title": "",
        "text": "x",
        "metadata": {"year": 1999, "rank": 1, "tags": ["a", "b"]},
    }
    take(texts, json.dumps(row).encode() + b"\n", "corpus.jsonl", shown_metadata=["year", "tags"])
    texts.refresh_from_db()
    document = texts.corpus.documents.create(docid="d1")

    assert _facts(texts, corpus_rows(texts, [document.pk])) == {
        document.pk: [["year", "1999"], ["tags", "a, b"]]
    }


# --- real collections ----------------------------------------------------------------------------


@needs_data
def test_scifact_comes_in_as_csv_and_beir(texts):
    with zipfile.ZipFile(DATA / "scifact" / "scifact_claims_corpus_csv.zip") as archive:
        corpus = archive.read("corpus_train.csv")
    take(texts, corpus, "corpus_train.csv")
    take(texts, (DATA / "scifact" / "queries.jsonl").read_bytes(), "queries.jsonl")
    take(texts, (DATA / "scifact" / "qrels" / "test.tsv").read_bytes(), "test.tsv", split="test")

    assert texts.current_corpus_version.n_documents == 5183
    assert texts.queries.count() == 1109
    assert texts.qrel_sets.get().n_qrels == 339
    assert texts.queries.filter(family__split="test").count() == 300


@needs_data
def test_cranfield_comes_in_as_smart_with_its_scale_turned(texts):
    folder = DATA / "cranfield"
    take(texts, (folder / "cran.all.1400").read_bytes(), "cran.all.1400")
    queries = list((folder / "cran.qry").read_text().split(".I ")[1:])
    # The judgments number the queries by their place in the file.
    numbered = "".join(f".I {n}\n{rest.split(chr(10), 1)[1]}" for n, rest in enumerate(queries, 1))
    take(texts, numbered.encode(), "cran.qry")

    grades = "1=3, 2=2, 3=1, 4=0, -1=0"
    take(texts, (folder / "cranqrel").read_bytes(), "cranqrel", grade_map=grades)

    assert texts.current_corpus_version.n_documents == 1400
    assert texts.queries.count() == 225
    record = texts.qrel_sets.get()
    assert (record.n_qrels, record.qrels.filter(grade=3).count()) == (1837, 128)


@needs_data
def test_vaswani_comes_in_as_trec(texts):
    folder = DATA / "vaswani"
    for name in ("doc-text.trec.gz", "query-text.trec", "qrels"):
        take(texts, (folder / name).read_bytes(), name)

    assert texts.current_corpus_version.n_documents == 11429
    assert texts.queries.count() == 93
    assert texts.qrel_sets.get().n_qrels == 2083
