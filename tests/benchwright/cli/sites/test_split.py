"""`benchwright split`, `sketch` and `check`: on folders, without a server."""

import gzip
import json
import zipfile

import pytest
from click.testing import CliRunner

from benchwright.cli.main import main

TEXTS = {
    "q1": "how long do goldfish live",
    "q2": "How long do goldfish live?",
    "q3": "cheapest flights from oslo to lisbon",
    "q4": "symptoms of vitamin d deficiency",
    "q5": "who painted the night watch",
    "q6": "reset a forgotten router password",
    "q7": "recipe for sourdough bread",
    "q8": "tallest building in chicago",
}


@pytest.fixture
def folder(tmp_path):
    toy = tmp_path / "toy"
    (toy / "qrels").mkdir(parents=True)
    documents = [{"_id": f"d-{qid}", "title": "", "text": text} for qid, text in TEXTS.items()]
    _write_rows(toy / "corpus.jsonl", documents)
    queries = [
        {"_id": qid, "text": text, "metadata": {"first_seen": f"2024-01-0{qid[1]}"}}
        for qid, text in TEXTS.items()
    ]
    _write_rows(toy / "queries.jsonl", queries)
    _qrels(toy, "test", list(TEXTS))
    return toy


def _write_rows(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _qrels(folder, split, qids):
    rows = "".join(f"{qid}\td-{qid}\t1\n" for qid in qids)
    (folder / "qrels" / f"{split}.tsv").write_text(f"query-id\tcorpus-id\tscore\n{rows}")


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def qids_of(folder, split):
    lines = (folder / "qrels" / f"{split}.tsv").read_text().splitlines()[1:]
    return {line.split("\t")[0] for line in lines}


def test_split_groups_families_and_writes_a_folder_that_check_finds_clean(folder, tmp_path):
    out = tmp_path / "out"

    done = run("split", folder, "-o", out, "--shares", "train=50,test=50", "--seed", "3")

    assert done.exit_code == 0, done.output
    assert "8 queries in 7 families" in done.output
    assert "nothing leaks from one split into another" in done.output
    assert len(qids_of(out, "train") & {"q1", "q2"}) in (0, 2)
    assert qids_of(out, "train") | qids_of(out, "test") == set(TEXTS)
    assert (out / "families.tsv").read_text().startswith("query-id\tfamily\nq1\tq1\nq2\tq1\n")
    assert json.loads((out / "leaks.json").read_text())["findings"] == []
    assert json.loads((out / "splits.json").read_text())["seed"] == 3
    assert (out / "corpus.jsonl").read_bytes() == (folder / "corpus.jsonl").read_bytes()
    assert run("check", out).exit_code == 0


def test_slices_and_weights_go_with_their_queries(folder, tmp_path):
    contents = {"slices.tsv": "query-id\tslice\nq1\thead\n", "weights.tsv": "q1\t2.5\n"}
    for name, content in contents.items():
        (folder / name).write_text(content)

    run("split", folder, "-o", tmp_path / "out", "--shares", "train=50,test=50")

    assert {name: (tmp_path / "out" / name).read_text() for name in contents} == contents


def test_a_split_that_breaks_off_takes_away_its_own_folder_alone(folder, tmp_path):
    packed = gzip.compress((folder / "corpus.jsonl").read_bytes())
    (folder / "corpus.jsonl").unlink()
    (folder / "corpus.jsonl.gz").write_bytes(packed[:-20])
    out = tmp_path / "mine" / "qrels"
    out.parent.mkdir()
    (out.parent / "notes.txt").write_text("of years")

    done = run("split", folder, "-o", out, "--shares", "train=50,test=50")

    assert (done.exit_code, out.exists()) == (1, False)
    assert "corpus.jsonl.gz: the gzip file ends too early" in done.output
    assert (out.parent / "notes.txt").read_text() == "of years"


def test_the_same_seed_writes_the_same_bytes(folder, tmp_path):
    for name in ("one", "two"):
        run("split", folder, "-o", tmp_path / name, "--seed", "5", "--shares", "train=50,test=50")

    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.*"))
    assert len(files) == 8
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_split_reads_a_zip_and_splits_by_time(folder, tmp_path):
    packed = tmp_path / "toy.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted(folder.rglob("*.*")):
            archive.write(path, f"toy/{path.relative_to(folder)}")
    out = tmp_path / "out"
    options = ("--mode", "chronological", "--test-from", "2024-01-05")

    done = run("split", packed, "-o", out, *options)

    assert done.exit_code == 0, done.output
    assert qids_of(out, "train") == {"q1", "q2", "q3", "q4"}
    assert json.loads((out / "splits.json").read_text())["cuts"] == {
        "test": "2024-01-05T00:00:00+00:00"
    }


def test_families_of_a_file_are_kept_and_a_leak_ends_with_1(folder, tmp_path):
    (folder / "families.tsv").write_text("query-id\tfamily\nq1\ta\nq2\tb\n")
    path = tmp_path / "given.tsv"
    sides = {qid: "train" if qid in ("q1", "q3") else "test" for qid in TEXTS}
    path.write_text("".join(f"{qid}\t{split}\n" for qid, split in sides.items()))
    out = tmp_path / "out"

    done = run("split", folder, "-o", out, "--mode", "given", "--given", path)

    assert done.exit_code == 1
    assert "q1 “how long do goldfish live” and q2 “How long do goldfish live?”" in done.output
    checked = run("check", out)
    assert checked.exit_code == 1
    assert "train and test: 1 pair of queries: the same but for case" in checked.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--shares", "train=80,test=10"], "they add up to 90"),
        (["--mode", "leave-slice-out"], "needs a slice"),
        (["--mode", "leave-slice-out", "--slice", "tail"], "There is no slice 'tail'"),
        (["--mode", "given"], "needs a file"),
        (["--mode", "chronological", "--test-from", "2030-01-01"], "lies outside"),
    ],
)
def test_what_cannot_be_split_says_why(folder, tmp_path, options, words):
    done = run("split", folder, "-o", tmp_path / "out", *options)

    assert done.exit_code in (1, 2)
    assert words in done.output


def test_a_folder_that_holds_something_is_not_overwritten(folder):
    done = run("split", folder, "-o", folder)

    assert done.exit_code == 2
    assert "is not empty" in done.output


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("queries.jsonl", "{}\n", 'queries.jsonl:1: has no "_id"'),
        ("qrels/dev.tsv", "query-id\tcorpus-id\tscore\nq1\td-q1\t3\n", "has grade"),
        ("families.tsv", "q1\n", "families.tsv:1: 1 column; expected 2"),
        ("slices.tsv", "q1\ttail\nq99\ttail\n", "slices.tsv:2: query 'q99'"),
    ],
)
def test_wrong_lines_of_a_folder_are_named(folder, tmp_path, name, content, words):
    (folder / name).write_text(content)

    done = run("split", folder, "-o", tmp_path / "out")

    assert done.exit_code == 1
    assert words in done.output
    assert not (tmp_path / "out").exists()


def test_check_finds_a_query_that_is_in_two_splits(folder):
    _qrels(folder, "train", ["q3"])
    _qrels(folder, "test", [qid for qid in TEXTS if qid not in ("q1", "q2")])

    done = run("check", folder)

    assert done.exit_code == 1
    assert "query q3 is judged in test and in train. Keep it in one of them." in done.output
    assert "one family: q3" not in done.output


@pytest.fixture
def german(folder):
    """A folder of which two queries are of the same German words but for their endings."""
    _write_rows(
        folder / "queries.jsonl",
        [
            {"_id": qid, "text": text}
            for qid, text in {**TEXTS, "q7": "laufen im Wald", "q8": "laufe im Walde"}.items()
        ],
    )
    return folder


def test_split_groups_by_the_language_and_from_the_grade_that_are_said(german, tmp_path):
    (german / "manifest.json").write_text('{"threshold": 2, "lang": "German"}')

    by_manifest = run("split", german, "-o", tmp_path / "a")
    by_options = run("split", german, "-o", tmp_path / "b", "--language", "en", "--rel", "1")

    assert "8 queries in 6 families" in by_manifest.output
    assert "8 queries in 7 families" in by_options.output
    lacking = [
        json.loads((tmp_path / out / "leaks.json").read_text())["label_density"][0]["name"]
        for out in "ab"
    ]
    assert lacking == ["none", "few"]
    refused = run("split", german, "-o", tmp_path / "c", "--language", "klingon")
    assert "'klingon' is no language we know" in refused.output


def test_check_reads_a_folder_as_it_was_split(german, tmp_path):
    sides = "".join(f"{qid}\t{'train' if qid == 'q7' else 'test'}\n" for qid in TEXTS)
    (tmp_path / "given.tsv").write_text(sides)
    (german / "families.tsv").write_text("query-id\tfamily\nq1\tq1\nq2\tq1\n")
    with (german / "qrels" / "test.tsv").open("a") as rows:
        rows.write("q3\td-q7\t1\n")
    asked = ("--mode", "given", "--given", tmp_path / "given.tsv", "--language", "de", "--rel", "2")

    split = run("split", german, "-o", tmp_path / "out", *asked).output
    checked = run("check", tmp_path / "out").output

    for output in (split, checked):
        assert "1 pair of queries: the same words" in output
        assert "relevant on both sides" not in output


def test_check_looks_for_leaks_in_the_language_and_from_the_grade_of_the_manifest(german):
    _qrels(german, "train", ["q7"])
    _qrels(german, "test", [qid for qid in TEXTS if qid not in ("q2", "q7")])
    with (german / "qrels" / "test.tsv").open("a") as rows:
        rows.write("q3\td-q7\t1\n")

    bare = run("check", german).output
    (german / "manifest.json").write_text('{"threshold": 2, "lang": "de"}')
    report = run("check", german).output

    assert "1 document is relevant on both sides" in bare
    assert "the same words" not in bare
    assert "1 document is relevant on both sides" not in report
    assert "1 pair of queries: the same words" in report


def test_check_of_a_folder_with_one_split_looks_for_no_leak(folder):
    assert "train" not in run("check", folder).output


# --- sketch --------------------------------------------------------------------------------


def test_sketch_says_what_it_made_and_passes_its_salt_on(folder, tmp_path):
    out = tmp_path / "out.sketch"

    done = run("sketch", folder / "queries.jsonl", "-o", out, "--new-salt")

    assert done.exit_code == 0, done.output
    assert "7 distinct queries, 0.0 MB" in done.output
    assert len(done.output.split("salt: ")[1].strip()) == 32
    assert out.read_bytes().startswith(b"benchwright-sketch 1\n")
    assert not [path for path in tmp_path.iterdir() if "benchwright-" in path.name]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "Which salt?"),
        (["--salt", "short"], "expected at least 16"),
    ],
)
def test_sketch_needs_a_salt_that_nobody_guesses(folder, tmp_path, options, words):
    done = run("sketch", folder / "queries.jsonl", "-o", tmp_path / "out.sketch", *options)

    assert done.exit_code in (1, 2)
    assert words in done.output
    assert not (tmp_path / "out.sketch").exists()


def test_sketch_of_a_file_that_cannot_be_read_leaves_nothing(tmp_path):
    path = tmp_path / "queries.jsonl"
    path.write_text('{"text": 7}\n')

    done = run("sketch", path, "-o", tmp_path / "out.sketch", "--new-salt")

    assert done.exit_code == 1
    assert "queries.jsonl:1: text is 7" in done.output
    assert not (tmp_path / "out.sketch").exists()
