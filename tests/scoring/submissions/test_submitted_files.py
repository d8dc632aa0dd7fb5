"""Files that are submitted: every form that is taken, and everything that may be wrong with one."""

import gzip
import io
import json
import subprocess
import sys
import zipfile
from resource import RUSAGE_SELF, getrusage

import polars as pl
import pytest
import zstandard

from benchmarks_app.common.selectors.reading import run_path
from benchmarks_app.models import Run
from benchwright.errors import BenchmarkError
from benchwright.files import sources
from benchwright.runs.intake import Terms
from benchwright.uploads import Place
from benchwright.uploads.submissions import take_submitted
from scoring.models import ScoreSet, Submission
from scoring.submissions.services.submitting import n_left_today
from tests import factories
from tests.scoring.conftest import GOOD, means

State = Submission.State
# The ranking of `GOOD`: its ids by query, best first.
RANKED = {"q1": ["d1", "d9", "d2"], "q2": ["d4"], "q3": ["d6"]}
COLUMNS = {
    "query_id": ["q1", "q1", "q1", "q2", "q3"],
    "docid": ["d1", "d9", "d2", "d4", "d6"],
    "score": [3.0, 2.0, 1.0, 5.0, 1.0],
}
PAIRS = [(qid, docid, rank) for qid, ids in RANKED.items() for rank, docid in enumerate(ids, 1)]
AS_JSON = {
    qid: {docid: float(9 - rank) for rank, docid in enumerate(ids)} for qid, ids in RANKED.items()
}


def parquet() -> bytes:
    out = io.BytesIO()
    pl.DataFrame(COLUMNS).write_parquet(out)
    return out.getvalue()


def zipped(*names: str) -> bytes:
    """A zip, not deflated: every byte of the runs stands in it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in names:
            archive.writestr(name, GOOD)
    return out.getvalue()


FORMS = {
    "trec": GOOD,
    "trec between tabs": GOOD.replace(b" ", b"\t"),
    "ms marco": "".join(f"{q}\t{d}\t{rank}\n" for q, d, rank in PAIRS).encode(),
    "ms marco between blanks": "".join(f"{q} {d} {rank}\n" for q, d, rank in PAIRS).encode(),
    "ms marco in any order": "".join(
        f"{q}\t{d}\t{r}\n" for q, d, r in sorted(PAIRS)[::-1]
    ).encode(),
    "query document score": "".join(f"{q} {d} {1 / r}\n" for q, d, r in PAIRS).encode(),
    "json": json.dumps(AS_JSON).encode(),
    "json on lines": json.dumps(AS_JSON, indent=1).encode(),
    "json lines": "".join(
        json.dumps({"qid": q, "docid": d, "rank": r}) + "\n" for q, d, r in PAIRS
    ).encode(),
    "json list": json.dumps([{"qid": q, "docid": d, "rank": r} for q, d, r in PAIRS]).encode(),
    "csv": ("qid,docid,score\n" + "".join(f"{q},{d},{1 / r}\n" for q, d, r in PAIRS)).encode(),
    "parquet": parquet(),
}
PACKED = {
    "": lambda content: content,
    "gz": gzip.compress,
    "zst": zstandard.ZstdCompressor().compress,
}


CASES = [
    *((form, "") for form in FORMS),
    *((form, packed) for form in ("trec", "json", "parquet") for packed in ("gz", "zst")),
]


def ranking(run: Run) -> dict[str, list[str]]:
    frame = pl.read_parquet(run_path(run)).sort("qid", "rank")
    results: dict[str, list[str]] = {}
    for qid, docid in frame.select("qid", "docid").iter_rows():
        results.setdefault(qid, []).append(docid)
    return results


@pytest.mark.parametrize(("form", "packed"), CASES)
def test_run_of_every_form_is_read_as_the_same_ranking(submit, sam, release, do_jobs, form, packed):
    submission = submit(sam, PACKED[packed](FORMS[form]))

    do_jobs()

    submission.refresh_from_db()
    assert (submission.state, submission.problems) == (State.SCORED, [])
    assert ranking(submission.run) == RANKED
    assert means(submission.run, release)["RR@10"] == pytest.approx(2 / 3)


def refused(submit, sam, do_jobs, content: bytes) -> Submission:
    submission = submit(sam, content)
    left = n_left_today(phase=submission.phase, user=sam)
    do_jobs()
    submission.refresh_from_db()
    assert n_left_today(phase=submission.phase, user=sam) == left + 1
    assert not Run.objects.filter(kind=Run.Kind.SUBMITTED).exists()
    assert not ScoreSet.objects.exists()
    return submission


BAD = {
    "one byte": (b"x", "1 column; expected 6"),
    "gz bomb": (gzip.compress(b" " * (40 << 20)), "inflates to more than"),
    "zst bomb": (zstandard.ZstdCompressor().compress(b" " * (40 << 20)), "inflates to more than"),
    "binary junk": (bytes(range(256)) * 20, "Texts in UTF-8 and Parquet are taken"),
    "truncated gz": (gzip.compress(GOOD * 200)[:-20], "ends too early"),
    "broken zst": (zstandard.ZstdCompressor().compress(GOOD)[:-3], "ends too early"),
    "broken parquet": (b"PAR1" + parquet()[4:-30], "damaged or cut short"),
    "a damaged zip": (b"PK\x03\x04" + b"x" * 100, "an archive where a file is expected"),
    "a zip of runs": (zipped("a.run", "b.run"), "an archive where a file is expected"),
    "gz in gz": (gzip.compress(gzip.compress(GOOD)), "was compressed twice"),
    "gz in zst": (
        zstandard.ZstdCompressor().compress(gzip.compress(GOOD)),
        "was compressed twice",
    ),
    "not utf-8": (b"q1 Q0 d\xff\xfe 1 1.0 s\n", "is not UTF-8"),
    "not utf-8 in json": (b'{"q1": {"d\xff": 1}}', "is not UTF-8"),
    "duplicate rows": (GOOD + b"q1 Q0 d1 9 0.1 s\n", "had document d1 on line 1 already"),
    "duplicates in json": (b'{"q1": {"d1": 2, "d1": 1}}', "had document d1 on line 1 already"),
    "nan": (b"q1 Q0 d1 1 nan s\n", "expected a number"),
    "nan in json": (b'{"q1": {"d1": NaN}}', "expected a number"),
    "json that ends": (b'{"q1": {"d1": 1', "is not JSON"),
    "json of lists": (b'{"q1": ["d1", "d2"]}', "JSON of another shape"),
    "json of many lists": (b'{"q1": ["d1"], "q2": ["d2"], "q3": ["d3"]}', "JSON of another shape"),
    "json lines of lists": (b'{"qid": "q1", "results": ["d1"], "tag": "x"}', "of another shape"),
    "json lines without a score": (b'{"qid": "q1", "docid": "d1", "tag": "x"}', "columns are qid"),
    "one json list": (b'[{"qid": "q1", "tag": "x"}]', "or JSON lines"),
    "other queries": (b"x1 Q0 d1 1 1.0 s\n", "share no query id"),
    "numbers of an index": (b"q1 Q0 17 1 1.0 s\nq2 Q0 4 1 1.0 s\n", "not the numbers of an index"),
    "of another benchmark": (b"a1 Q0 z1 1 1 s\na2 Q0 z2 1 1 s\n", "the benchmark has 'q1'"),
    "scores as whole numbers": (b"q1 d1 90\nq1 d2 80\n", "ranks of query 'q1' begin at 80"),
    "named columns without a score": (b"qid,docid\nq1,d1\n", "columns"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_file_is_invalid_says_why_and_costs_nothing(submit, sam, do_jobs, kind):
    content, words = BAD[kind]

    submission = refused(submit, sam, do_jobs, content)

    assert submission.state == State.INVALID
    assert words in " ".join(problem["text"] for problem in submission.problems)


def test_every_problem_is_kept_with_its_line(submit, sam, do_jobs):
    submission = refused(submit, sam, do_jobs, GOOD + b"q1 Q0 d7 9 n/a s\nq2 d4\n")

    kept = [(problem["file"], problem["line"], problem["code"]) for problem in submission.problems]
    assert kept == [("my.run", 6, "file-problems"), ("my.run", 7, "file-problems")]


def test_problems_outlive_their_job(submit, sam, do_jobs, signed_in):
    submission = refused(submit, sam, do_jobs, b"x")
    submission.job.delete()

    page = signed_in(sam).get(submission.get_absolute_url())

    assert b"expected 6" in page.content


def test_single_query_of_too_many_rows_is_stopped_while_it_is_read(submit, sam, do_jobs, settings):
    settings.RUN_MAX_DEPTH = 1000
    rows = b"".join(b"q1 Q0 d%d 1 %d s\n" % (number, -number) for number in range(1001))

    submission = refused(submit, sam, do_jobs, rows)

    assert submission.problems[0]["code"] == "run-too-deep"
    assert "more than 1,000 documents for query 'q1'" in submission.problems[0]["text"]


def test_depth_is_counted_over_blocks_of_a_file(submit, sam, do_jobs, settings, monkeypatch):
    from benchwright.runs import blocks as run_blocks

    settings.RUN_MAX_DEPTH = 100
    monkeypatch.setattr(run_blocks, "BLOCK_BYTES", 64)
    rows = b"".join(b"q1 Q0 d%d 1 %d s\n" % (number, -number) for number in range(101))

    submission = refused(submit, sam, do_jobs, rows)

    assert submission.problems[0]["code"] == "run-too-deep"


def test_json_beyond_what_is_read_at_once_is_refused(tmp_path, monkeypatch):
    from benchwright.runs import json_runs

    monkeypatch.setattr(json_runs, "MAX_BYTES", 1 << 20)
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"q1": {f"d{number}": number for number in range(100_000)}}))

    with pytest.raises(BenchmarkError, match="write a TREC run or Parquet"):
        take_submitted(
            Place(path, path.name),
            tmp_path,
            Terms(path.name, tmp_path / "run", "trec"),
            progress=lambda what, done, total: None,
        )


BOMB = """
import polars as pl, sys
columns = {"query_id": ["q1"], "docid": ["d" * 300_000_000], "score": [1.0]}
pl.DataFrame(columns).write_parquet(sys.argv[1])
"""
DEEP = {
    "lists": b'{"q1": ' + b"[" * 400_000,
    "objects": b'{"q1": ' * 80_000 + b"1" + b"}" * 80_000,
}


@pytest.mark.parametrize("content", DEEP.values(), ids=DEEP)
def test_json_nested_deep_is_refused_at_once(submit, sam, do_jobs, content):
    submission = refused(submit, sam, do_jobs, content)

    assert submission.problems[0]["text"]
    assert submission.job.attempt == 1


def test_cell_larger_than_memory_is_refused(submit, sam, do_jobs, settings, tmp_path):
    path = tmp_path / "bomb.parquet"
    subprocess.run([sys.executable, "-c", BOMB, str(path)], check=True)
    settings.READ_MEMORY_MB = 256
    before = getrusage(RUSAGE_SELF).ru_maxrss

    submission = refused(submit, sam, do_jobs, path.read_bytes())

    assert submission.problems[0]["code"] == "file-too-costly"
    assert "more than 256 MB of memory" in submission.problems[0]["text"]
    assert getrusage(RUSAGE_SELF).ru_maxrss - before < 50 << 10


@pytest.mark.django_db
def test_documents_that_the_corpus_lacks_are_named(upload, do_jobs):
    from scoring.submissions.services import submitting

    tiny = factories.tiny_benchmark("tiny-of-sam")
    sam = factories.member(tiny, "sam", "submitter")
    factories.release(tiny.qrel_sets.get())
    phase = tiny.phases.get()

    submission = submitting.accept_submission(
        phase=phase, user=sam, upload=upload(tiny, sam, b"1 Q0 99999 1 2 s\n"), name="numbers"
    )
    do_jobs()

    submission.refresh_from_db()
    assert submission.state == State.INVALID
    assert "document '99999' is not in the corpus" in submission.problems[0]["text"]


def test_progress_is_told_in_percent_of_the_file(submit, sam, monkeypatch):
    from benchmarks_app.jobs.services import jobs

    results = []
    monkeypatch.setattr(jobs, "PROGRESS_EVERY_SECONDS", 0)
    submission = submit(sam)

    jobs.execute(
        submission.job_id,
        has_heartbeat=False,
        on_progress=lambda done, total, message: results.append((done, total, message)),
    )

    assert {total for _, total, _ in results} == {100}
    assert [done for done, _, _ in results] == sorted(done for done, _, _ in results)
    assert {message for _, _, message in results} >= {"checking the file", "the file is right"}


def test_metadata_in_comments_of_the_file_fills_what_the_form_left_out(submit, sam, do_jobs):
    comments = b"# ir_metadata.start\n# tag: mine\n# implementation:\n#   source:\n"
    comments += b"#     commit: ab12\n# ir_metadata.end\n"

    submission = submit(sam, comments + GOOD, metadata={"system": "given"})
    do_jobs()

    submission.refresh_from_db()
    metadata = submission.run.metadata
    assert (metadata["system"], metadata["commit"]) == ("given", "ab12")
    assert metadata["ir_metadata"]["tag"] == "mine"


def test_limits_of_archives_stand_as_the_tests_of_bombs_assume():
    assert sources.DEFAULT_LIMITS.ratio_free_bytes < 40 << 20
