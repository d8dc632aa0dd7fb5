"""Cases from JSON lines, and every problem with its line."""

import base64
import gzip
import io
import json
from pathlib import Path

import pytest
from PIL import Image as Pillow

from benchwright.contextual.cases import CaseLimits, case_as_json, case_of, read_cases
from benchwright.contextual.from_outside import NamedImages
from benchwright.contextual.types import Case
from benchwright.errors import FileProblemsError
from benchwright.judges.images import ImageLimits, checked_image
from benchwright.judges.messages import Image

GOOD = {"input": "Who?", "expected_output": "Ada.", "retrieval_context": ["a", ["b", "c"]]}


def png(colour="red", size=(4, 3)):
    out = io.BytesIO()
    Pillow.new("RGB", size, colour).save(out, "PNG")
    return out.getvalue()


def lines(*rows):
    return [(row if isinstance(row, str) else json.dumps(row)).encode() + b"\n" for row in rows]


def problems_of(*rows, **settings):
    with pytest.raises(FileProblemsError) as refusal:
        read_cases(lines(*rows), **settings)
    return [str(problem) for problem in refusal.value.problems]


def test_case_is_read_with_all_it_has():
    row = {**GOOD, "id": 7, "actual_output": ["x"], "slices": ["head", "exact", "head"]}

    (case,) = read_cases(lines(row)).cases

    assert case == Case(("Who?",), ("Ada.",), (("a",), ("b", "c")), ("x",), "7", ("head", "exact"))


def test_case_without_id_is_called_by_its_line_and_empty_lines_are_passed_over():
    read = read_cases(lines(GOOD, "", GOOD, " "))

    assert [case.id for case in read.cases] == ["line-1", "line-3"]


def test_file_may_be_compressed_and_begin_with_a_mark(tmp_path):
    path = tmp_path / "cases.jsonl.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + b"".join(lines(GOOD, GOOD))))

    assert len(read_cases(path).cases) == 2


def test_empty_context_is_a_case():
    assert read_cases(lines({**GOOD, "retrieval_context": []})).cases[0].retrieval_context == ()


def test_all_problems_are_told_with_their_lines():
    problems = problems_of(
        "{",
        [1],
        {"input": "x"},
        {**GOOD, "input": " "},
        {**GOOD, "retrieval_context": "a"},
        {**GOOD, "retrieval_context": ["a", 3, {"img": "x"}]},
        {**GOOD, "id": "same"},
        {**GOOD, "id": "same", "slices": [1]},
        name="cases.jsonl",
    )

    assert problems == [
        "cases.jsonl:1: not JSON (Expecting property name enclosed in double quotes at character "
        "3); expected one object a line.",
        "cases.jsonl:2: a list; expected a JSON object.",
        "cases.jsonl:3: no 'expected_output'; expected input, expected_output, retrieval_context. "
        "Add it.",
        "cases.jsonl:3: no 'retrieval_context'; expected input, expected_output, "
        "retrieval_context. Add it.",
        "cases.jsonl:4: input is empty; expected a text or an image. Give the case one.",
        "cases.jsonl:5: retrieval_context is a text; expected a list of nodes, the best first.",
        "cases.jsonl:6: retrieval_context, node 2: a number; expected a text, an image or a list "
        "of both.",
        "cases.jsonl:6: retrieval_context, node 3: an object with 'img'; expected "
        '{"image": "file.png"}, {"url": "https://…"} or {"data": "<base64>"}.',
        "cases.jsonl:8: id 'same' is that of line 7, too.",
        "cases.jsonl:8: slices is a list; expected a list of names.",
    ]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({**GOOD, "id": ""}, "id is a text; expected a text that is not empty"),
        ({**GOOD, "id": ["x"]}, "id is a list"),
        ({**GOOD, "id": True}, "id is true or false"),
        ({**GOOD, "slices": "all"}, "a slice is called 'all', which means all cases"),
        ({**GOOD, "id": "a\nb"}, "printable characters"),
        ({**GOOD, "input": "\ud800"}, "input: half a surrogate pair at character 1"),
        ({**GOOD, "retrieval_context": ["a"] * 501}, "501 nodes; expected at most 500"),
        ({**GOOD, "input": "x" * 1_000_001}, "1,000,001 characters; expected at most 1,000,000"),
        pytest.param("[" * 100_000, "nested too deeply", id="deep"),
        pytest.param('{"id": ' + "1" * 5000 + "}", "number that is too long", id="long number"),
    ],
)
def test_value_out_of_bounds_is_told(row, words):
    assert any(words in problem for problem in problems_of(row))


def test_bytes_that_are_no_utf8_are_told_with_their_line():
    with pytest.raises(FileProblemsError, match=r"cases:2: byte 1 is not UTF-8"):
        read_cases([*lines(GOOD), b"\xff\n"])


def test_file_without_a_case_is_told():
    assert problems_of("") == ["cases: no case; expected a JSON object a line."]


def test_more_cases_than_allowed_are_refused():
    assert "cases:3: more than 2 cases. Split the file." in problems_of(
        GOOD, GOOD, GOOD, limits=CaseLimits(max_cases=2)
    )


def test_unknown_field_is_a_note():
    names = ["context", "tools", "cost", "tags", "name", "comments"]
    read = read_cases(lines({**GOOD, **dict.fromkeys(names, "x")}))

    assert [str(warning) for warning in read.warnings] == [
        f"cases:1: '{name}' is no field of a case and is left out." for name in names
    ]


# --- images --------------------------------------------------------------------------------------


def shown(*nodes):
    return {**GOOD, "retrieval_context": list(nodes)}


def test_images_come_from_a_folder_an_address_or_the_line_itself(tmp_path):
    (tmp_path / "a.png").write_bytes(png())
    data = base64.b64encode(png("blue")).decode()
    row = shown({"image": "a.png"}, ["see", {"url": "https://example.org/b.png"}], {"data": data})

    ((first,), (_, second), (third,)) = (
        read_cases(lines(row), images=tmp_path).cases[0].retrieval_context
    )

    assert (first.name, first.media_type, first.width, first.height) == ("a.png", "image/png", 4, 3)
    assert (second.url, second.data) == ("https://example.org/b.png", b"")
    assert third.data == png("blue")
    assert third.name == f"{third.sha256[:16]}.png"


def test_no_file_is_read_without_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.png").write_bytes(png())

    (problem,) = problems_of(shown({"image": "a.png"}))

    assert "a case names a file; expected a folder of images" in problem


@pytest.mark.parametrize("name", ["../a.png", "/etc/hostname", "link.png", ".", "", "x\x00y"])
def test_name_that_leads_out_of_the_folder_is_refused(tmp_path, name):
    folder = tmp_path / "images"
    folder.mkdir()
    (tmp_path / "a.png").write_bytes(png())
    (folder / "link.png").symlink_to(tmp_path / "a.png")

    (problem,) = problems_of(shown({"image": name}), images=folder)

    assert "leads out of the folder" in problem or "cannot be read" in problem


def test_image_that_is_not_there_or_broken_is_told_at_every_line(tmp_path):
    (tmp_path / "cut.png").write_bytes(png(size=(300, 300))[:200])

    problems = problems_of(
        shown({"image": "gone.png"}, {"image": "cut.png"}), shown({"image": "cut.png"}),
        images=tmp_path,
    )  # fmt: skip

    assert [problem.partition(": ")[0] for problem in problems] == ["cases:1", "cases:1", "cases:2"]
    assert (
        "node 1: gone.png: it cannot be read from the folder of images (No such file" in problems[0]
    )
    assert "node 2: cut.png: it is broken" in problems[1]


def test_uploaded_images_are_found_by_name():
    image = checked_image(png(), name="a.png")

    read = read_cases(lines(shown({"image": "a.png"})), images={"a.png": image})

    assert read.cases[0].retrieval_context == ((image,),)
    (problem,) = problems_of(shown({"image": "b.png"}), images={"a.png": image})
    assert "none of the images that came with the cases" in problem


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"data": "%%%"}, "its data is not base64"),
        ({"data": base64.b64encode(b"text").decode()}, "it is no PNG, JPEG"),
        ({"url": "file:///etc/passwd"}, "'file' is not http or https"),
        ({"url": "https://user:secret@example.org/"}, "it carries a user name"),
        ({"image": "a", "url": "b"}, "an object with 'image', 'url'"),
        ({"image": 3}, "an object with 'image'"),
        ({}, "an object with nothing"),
    ],
)
def test_image_that_cannot_be_one_is_told(given, words):
    assert words in problems_of(shown(given))[0]


def test_large_image_in_a_line_is_refused():
    data = base64.b64encode(png(size=(50, 50))).decode()
    limits = CaseLimits(images=ImageLimits(max_pixels=2000))

    assert "it is 50 x 50" in problems_of(shown({"data": data}), limits=limits)[0]


def test_placeholder_of_an_image_is_only_text(tmp_path):
    (tmp_path / "a.png").write_bytes(png())
    text = f"[DEEPEVAL:IMAGE:{tmp_path / 'a.png'}]"

    read = read_cases(lines(shown(text)), images=tmp_path)

    assert read.cases[0].retrieval_context == ((text,),)


def test_case_survives_json():
    image = checked_image(png(), name="a.png")
    case = Case(
        ["see", image],
        "that",
        ["a", [image, "b", Image(name="https://x.org/i", url="https://x.org/i")], []],
        actual_output="this",
        id="c1",
        slices=("s",),
    )

    report = json.loads(json.dumps(case_as_json(case)))

    assert case_of(report, {"a.png": image}) == case


def test_an_image_is_named_by_its_file_unless_another_is_called_so():
    named = {name: Image(name.encode(), "image/png", name) for name in ("a/x", "b/x", "b/y")}
    images = NamedImages(named)

    assert [name in images for name in ("x", "a/x", "y", "c/y")] == [False, True, True, True]
    assert (images["a/x"], images["y"]) == (named["a/x"], named["b/y"])


MADE = Path(__file__).parent / "made"
RAGAS = {
    "user_input": "Where?",
    "retrieved_contexts": ["In Paris.", "Bread."],
    "reference_contexts": None,
    "response": "Paris",
    "reference": "In Paris.",
}
DEEPEVAL = {
    "input": "Where?",
    "actual_output": "Paris",
    "expected_output": "In Paris.",
    "retrieval_context": ["In Paris.", "Bread."],
    "context": None,
    "name": None,
    "comments": None,
    "source_file": None,
}


@pytest.mark.parametrize("row", [RAGAS, DEEPEVAL])
@pytest.mark.parametrize("indent", [None, 4])
@pytest.mark.parametrize("is_list", [True, False])
def test_cases_of_ragas_and_deepeval_are_ours(row, indent, is_list):
    if indent and not is_list:
        pytest.skip("an object a line has none")
    lines = json.dumps([row] if is_list else row, indent=indent).encode().splitlines(keepends=True)

    batch = read_cases(lines)

    (case,) = batch.cases
    assert (case.input, case.expected_output, case.actual_output) == (
        ("Where?",),
        ("In Paris.",),
        ("Paris",),
    )
    assert case.retrieval_context == (("In Paris.",), ("Bread.",))
    assert batch.warnings == ()


def test_a_field_of_ours_comes_before_another_name_for_it_which_is_told():
    more = {"question": "Whose?", "actual_output": None, "answer": "A", "response": "B"}
    read = read_cases(lines({**more, **GOOD}))

    assert (read.cases[0].input, read.cases[0].actual_output) == ((GOOD["input"],), ("A",))
    assert [str(warning) for warning in read.warnings] == [
        "cases:1: 'question' is no field of a case and is left out.",
        "cases:1: 'response' is no field of a case and is left out.",
    ]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'[\n{"input": "x"},\n', r"cases:3: not JSON .*cut short"),
        (b"[7]", r"cases:1: case 1 is .*expected a JSON object"),
        (b'[{"user_input": "x", "reference": "y"}]', r"cases:1: no 'retrieval_context'"),
        (b"[]", "no case"),
    ],
)
def test_a_list_that_is_none_of_cases_is_refused(content, words):
    with pytest.raises(FileProblemsError, match=words):
        read_cases(content.splitlines(keepends=True))


# --- files that the tools themselves have written: Ragas 0.4.3, DeepEval 4.3.1 -------------------


@pytest.mark.parametrize("name", ["ragas.jsonl", "deepeval.json"])
def test_cases_that_were_written_by_the_tools_are_read(name):
    (case,) = read_cases(MADE / name).cases

    assert (case.input, case.expected_output) == (("what is a cat",), ("an animal",))
    assert case.retrieval_context == (("A cat is an animal.",), ("Dogs bark.",))


def test_json_lines_of_deepeval_are_refused_with_what_to_do():
    with pytest.raises(FileProblemsError, match='file_type="json"'):
        read_cases(MADE / "deepeval.jsonl")
