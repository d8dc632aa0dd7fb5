import os
from pathlib import Path

import pytest

from benchwright.errors import Problems
from benchwright.formats.beir import open_beir

DATA = Path(os.environ.get("BENCHWRIGHT_TEST_DATA", Path(__file__).parents[4] / "shared" / "data"))


@pytest.mark.data
@pytest.mark.skipif(not DATA.is_dir(), reason=f"BENCHWRIGHT_TEST_DATA: no {DATA}")
def test_scifact_queries_and_splits_are_read_whole():
    problems = Problems()
    beir = open_beir(DATA / "scifact")

    queries = list(beir.queries_rows(problems))
    rows = {split: list(beir.qrels_rows(split, problems)) for split in beir.qrels_splits()}

    assert problems.found == []
    assert len(queries) == 1109
    assert {split: len(members) for split, members in rows.items()} == {"test": 339, "train": 919}
    assert len({row.qid for row in rows["test"]}) == 300
