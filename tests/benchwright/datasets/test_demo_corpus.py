"""What becomes a demo document, shown on a small library and on this interpreter's own."""

import time
from pathlib import Path

import pytest

from benchwright.datasets.demo import DemoDocument, collect_docstrings
from benchwright.errors import MissingFileError
from benchwright.ids import text_hash

SOURCE = '''
"""Encode and decode things, for the test."""
raise SystemExit("importing this would end the test")

if True:
    def dumps(first, /, *rest, indent=None, **options):
        """Serialize the first thing to text.

        More about it, indented.
        """
        def inner():
            """Documented, but nobody can name it."""
else:
    def dumps(first):
        """The second definition of one name."""

class Encoder:
    """An encoder that can be extended."""

    def __init__(self, *, indent):
        """Make an encoder with an indent."""

    def __repr__(self):
        """Documented, but a protocol of Python."""

    @classmethod
    async def default(cls, value):
        """Say how an unknown value is encoded."""

    def _helper(self):
        """Documented, but private to the class."""

try:
    import speedups
except ImportError:
    def fallback():
        """Used where the speedups are missing."""

def bare():
    pass

def terse():
    """Undocumented."""
'''


def library(folder: Path, sources: dict[str, str]) -> Path:
    """A folder of source files, each by its path without the suffix."""
    for name, source in sources.items():
        path = folder / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return folder


def docids(documents: list[DemoDocument]) -> list[str]:
    return [document.docid for document in documents]


@pytest.fixture(scope="module")
def standard_library() -> list[DemoDocument]:
    return collect_docstrings()


def test_modules_classes_functions_and_methods_are_documents_sorted_by_id(tmp_path: Path):
    documents = collect_docstrings(library(tmp_path, {"json": SOURCE}))

    assert docids(documents) == [
        "json",
        "json.Encoder",
        "json.Encoder.__init__",
        "json.Encoder.default",
        "json.dumps",
        "json.fallback",
    ]


def test_a_title_names_kind_and_parameters_without_self_and_defaults(tmp_path: Path):
    documents = collect_docstrings(library(tmp_path, {"json": SOURCE}))

    assert [document.title for document in documents] == [
        "module json",
        "class json.Encoder",
        "json.Encoder.__init__(indent)",
        "json.Encoder.default(value)",
        "json.dumps(first, *rest, indent, **options)",
        "json.fallback()",
    ]


def test_the_text_is_the_first_docstring_without_its_indentation(tmp_path: Path):
    documents = collect_docstrings(library(tmp_path, {"json": SOURCE}))

    assert documents[4].text == "Serialize the first thing to text.\n\nMore about it, indented."


@pytest.mark.parametrize(
    "name",
    [
        "numpy",  # not of the standard library
        "site-packages/json",
        "json/tests/data",
        "tkinter/ttk",
        "telnetlib",  # gone in 3.13
        "json/_private",
        "_strptime",
    ],
)
def test_what_no_developer_searches_for_is_left_out(tmp_path: Path, name: str):
    folder = library(tmp_path, {"glob": '"""The only document of this library."""', name: SOURCE})

    assert docids(collect_docstrings(folder)) == ["glob"]


def test_a_private_file_is_read_under_the_name_developers_import(tmp_path: Path):
    sources = {
        "concurrent/futures/__init__": '"""Execute computations in the background."""',
        "concurrent/futures/_base": 'class Future:\n    """A result that is not there yet."""',
    }
    folder = library(tmp_path, sources)

    assert docids(collect_docstrings(folder)) == ["concurrent.futures", "concurrent.futures.Future"]


def test_a_public_file_wins_over_the_private_one_of_the_same_name(tmp_path: Path):
    sources = {
        "io": '"""The public words about streams."""',
        "_pyio": '"""The private words about streams."""',
    }
    folder = library(tmp_path, sources)

    assert collect_docstrings(folder) == [
        DemoDocument("io", "module io", "The public words about streams.")
    ]


def test_an_interpreter_without_source_is_told_what_is_missing(tmp_path: Path):
    with pytest.raises(MissingFileError, match="no Python source with docstrings found") as caught:
        collect_docstrings(tmp_path)

    assert caught.value.place == str(tmp_path)


def test_this_interpreter_has_about_4400_documents(standard_library: list[DemoDocument]):
    assert 4_100 < len(standard_library) < 4_800


def test_ids_are_unique_and_in_order(standard_library: list[DemoDocument]):
    result = docids(standard_library)

    assert result == sorted(set(result))


def test_well_known_names_are_documents(standard_library: list[DemoDocument]):
    wanted = {"shutil.rmtree", "pathlib.Path.exists", "textwrap", "concurrent.futures.Future"}

    assert wanted <= set(docids(standard_library))


def test_no_document_is_empty_or_has_a_line_break_in_its_title(
    standard_library: list[DemoDocument],
):
    faulty = [d.docid for d in standard_library if not d.text.strip() or "\n" in d.title]

    assert faulty == []


def test_a_second_collection_is_the_same_and_takes_seconds(standard_library: list[DemoDocument]):
    started = time.process_time()
    again = collect_docstrings()
    elapsed = time.process_time() - started

    assert again == standard_library
    assert elapsed < 10  # of processor; about one


def test_a_hash_is_16_hex_digits_of_title_and_text():
    assert text_hash("shutil.rmtree(path)", "Delete a tree.") == "f6dfac776b3a697f"
    assert text_hash("a", "b c") != text_hash("a b", "c")
