"""Files that other tools themselves have written, of four of our own tasks: read, or refused well.

In `made/`: by the converter of label-studio-sdk 2.1.2, and by scikit-learn 1.9.1.
"""

from collections import Counter
from pathlib import Path

import pytest

from benchwright.detection.kinds import FileKind
from benchwright.uploads import Place, look_at

MADE = Path(__file__).parent / "made"


def looked_at(name: str):
    place = Place(MADE / name, name)
    (look,) = look_at(place, None, has_passages=False, is_short=False, is_whole=True).looks
    return look


@pytest.mark.parametrize(
    "name", ["label-studio.json", "label-studio-min.json", "label-studio.csv", "label-studio.tsv"]
)
def test_what_label_studio_gives_out_is_read(name):
    look = looked_at(name)

    assert (look.part.kind, look.is_ready) == (FileKind.JUDGED, True), (look.error, look.problems)
    assert look.grades == Counter([3, 1, 0, 2])


def test_what_scikit_learn_writes_names_no_document_and_is_refused_by_line():
    look = looked_at("scikit-learn.svm")

    assert not look.is_ready
    assert [str(problem).split(": ")[0] for problem in look.problems] == [
        f"scikit-learn.svm:{line}" for line in (5, 6, 7)
    ]
    assert "expected its id after '#'" in str(look.problems[0])
