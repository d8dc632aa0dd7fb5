"""`benchwright verify`: a result stands as long as its files give the same numbers."""

import json
import random

import pytest


@pytest.fixture
def result(files, benchwright):
    """A result file over slices, with intervals, and the function that verifies it."""
    (files / "slices.tsv").write_text("q1\thead\nq2\ttail\n")
    path = files / "result.json"
    result = benchwright(
        *("score", "qrels.txt", "a.run", "b.run", "--slices", "slices.tsv", "--ci"),
        *("-m", "nDCG@10", "-m", "Judged@10", "--result", path),
    )
    assert result.exit_code == 0
    return path


def test_result_of_unchanged_files_stands(result, benchwright):
    done = benchwright("verify", result)

    assert done.exit_code == 0
    assert done.stdout == "result.json: the same files, and all 12 values are the same.\n"


def test_result_is_the_same_bytes_each_time(result, benchwright, files):
    again = files / "again.json"

    benchwright(
        *("score", "qrels.txt", "a.run", "b.run", "--slices", "slices.tsv", "--ci"),
        *("-m", "nDCG@10", "-m", "Judged@10", "--result", again),
    )

    assert again.read_bytes() == result.read_bytes()


def test_result_may_move_with_its_files(result, benchwright, files, tmp_path_factory, monkeypatch):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "all"
    files.rename(elsewhere)
    monkeypatch.chdir(elsewhere.parent)

    assert benchwright("verify", elsewhere / "result.json").exit_code == 0


def test_moved_files_can_be_named(result, benchwright, files):
    for name in ("qrels.txt", "a.run", "slices.tsv"):
        (files / name).rename(files / f"moved-{name}")

    lost = benchwright("verify", result)
    results = benchwright(
        *("verify", result, "--qrels", "moved-qrels.txt", "--run", "moved-a.run"),
        *("--slices", "moved-slices.tsv"),
    )

    assert lost.exit_code == 2
    assert "no file found. Put it back, or name where it is now" in lost.stderr
    assert (results.exit_code, results.stderr) == (0, "")


def test_changed_grade_is_found_in_the_file_and_in_every_number_it_moves(
    result, benchwright, files
):
    qrels = files / "qrels.txt"
    qrels.write_text(qrels.read_text().replace("q1 0 d2 1", "q1 0 d2 2"))

    done = benchwright("verify", result)

    assert done.exit_code == 1
    first, *lines = done.stdout.splitlines()
    assert first == f"result.json: {len(lines)} differences."
    assert lines[0].startswith("files/qrels/sha256: ")
    assert any(line.startswith("a.run/per_query/q1/nDCG@10: 0.96") for line in lines)
    assert any(line.startswith("a.run/slices/head/means/nDCG@10: ") for line in lines)
    assert not any("q2" in line or "tail" in line for line in lines)


def test_one_changed_bit_of_one_value_is_a_difference(result, benchwright):
    stored = json.loads(result.read_text())
    values = stored["runs"][0]["per_query"]["q1"]
    values["nDCG@10"] = values["nDCG@10"] * (1 + 2**-52)
    result.write_text(json.dumps(stored))

    done = benchwright("verify", result)

    assert done.exit_code == 1
    assert done.stdout.splitlines()[0] == "result.json: 1 difference."


def test_many_differences_are_cut_unless_all_are_wanted(result, benchwright):
    stored = json.loads(result.read_text())
    for number in range(30):
        stored["runs"][0]["means"][f"made up {number}"] = random.random()
    result.write_text(json.dumps(stored))

    short, whole = benchwright("verify", result), benchwright("verify", result, "--all")

    assert short.stdout.splitlines()[-1] == "… and 10 more (--all shows them)."
    assert len(whole.stdout.splitlines()) == 31


def test_another_version_is_told_and_decides_nothing(result, benchwright):
    stored = json.loads(result.read_text())
    stored["made_by"]["version"] = "0.0.9"
    result.write_text(json.dumps(stored))

    done = benchwright("verify", result)

    assert done.exit_code == 0
    assert "Note: version was 0.0.9 and is " in done.stderr


def test_a_result_without_values_of_queries_says_how_to_write_them(files, benchwright):
    output = benchwright("score", "qrels.txt", "a.run", "--json").stdout
    (files / "shown.json").write_text(output)

    done = benchwright("verify", "shown.json")

    assert done.exit_code == 1
    assert "shown.json lacks the values of queries. Write it with --result" in done.stderr


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("files",), []),
        (("files",), {}),
        (("files", "qrels"), {}),
        (("made_by",), None),
        (("runs",), {}),
        (("runs", 0), 1),
        (("runs", 0, "name"), None),
        (("runs", 0, "per_query"), {"q1": 1}),
        (("rules", "measures"), [1]),
        (("rules", "depth"), "ten"),
        (("rules", "judged_only"), {}),
    ],
    ids=str,
)
def test_a_result_that_was_altered_by_hand_is_told_by_its_place(result, benchwright, place, value):
    content = json.loads(result.read_text())
    *above, last = place
    holder = content
    for key in above:
        holder = holder[key]
    holder[last] = value
    result.write_text(json.dumps(content))

    done = benchwright("verify", result)

    assert done.exit_code == 1
    assert f"result.json has something else at {place[0]}" in done.stderr


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("not json", "is no JSON"),
        pytest.param("[" * 100_000, "is no JSON", id="deep"),
        ("[]", 'has no "format": "benchwright-result"'),
        ('{"format": "benchwright-result", "version": 99}', "is of version 99; expected 1"),
        ('{"format": "benchwright-result", "version": 1, "runs": []}', "lacks files, made_by"),
        (
            '{"format": "benchwright-result", "version": 1, "runs": [], "files": {"qrels": '
            '{"path": "qrels.txt"}}, "made_by": {}, "rules": {"luck": 1}}',
            "has rules other than",
        ),
    ],
)
def test_what_is_no_result_is_refused(result, benchwright, change, words):
    result.write_text(change)

    done = benchwright("verify", result)

    assert done.exit_code == 1
    assert f"result.json {words}" in done.stderr
