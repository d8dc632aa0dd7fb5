"""Results as people look at them: by the names they write, as frames, and in a notebook."""

import builtins
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchwright import compare_runs, evaluate
from benchwright.errors import MissingPackageError

QRELS = {f"q{n}": {"d1": 1, "d2": 2} for n in range(6)}
FIRST = {f"q{n}": {"d1": 3.0, "d2": 1.0 + n} for n in range(6)}
SECOND = {f"q{n}": {"d2": 3.0, "d9": 2.0, "d1": 1.0} for n in range(6)}
# A table is all that is made: no style, no script, no event, nothing fetched.
PARTS = {*("table", "thead", "tbody", "tr", "th", "td", "p"), *("svg", "path", "circle")}


def parts(html: str) -> ElementTree.Element:
    """What a page would be made of, which has to be whole."""
    whole = ElementTree.fromstring(f"<div>{html}</div>")
    inside = [part for part in whole.iter() if part is not whole]
    assert {part.tag for part in inside} <= PARTS
    assert not any(
        name == "style" or name.startswith("on") or name in {"href", "src"}
        for part in inside
        for name in part.attrib
    )
    return whole


def test_mean_is_found_by_every_name_of_its_measure():
    scores = evaluate(QRELS, FIRST, ["nDCG@10", "nDCG@5", "RR", "AP(rel=2)"])

    assert (
        scores["nDCG@10"] == scores["ndcg_cut_10"] == scores["NDCG@10"] == scores.means["nDCG@10"]
    )
    assert scores["ndcg_cut_5"] == scores.means["nDCG@5"]
    assert scores["MRR"] == scores["recip_rank"] == scores["RR"]
    assert scores["map"] == scores["AP(rel=2)"]
    for name in ("P@5", "ndcg_cut_20", "luck"):
        with pytest.raises(KeyError, match=f"{name}: not scored; there are nDCG@10, nDCG@5, RR"):
            scores[name]


def test_frames_have_a_row_a_measure_with_its_interval_or_a_row_a_query():
    scores = evaluate(QRELS, FIRST, ["nDCG@10", "NumRet"])
    frame, queries = scores.to_frame(), scores.to_frame(by="query")

    assert frame["mean"].to_list() == list(scores.means.values())
    assert frame["low"][0] < frame["mean"][0] < frame["high"][0]
    assert frame["low"][1] is None  # a count is no mean
    assert queries.rows(named=True)[0] == {"query": "q0", **scores.per_query["q0"]}
    assert scores.to_pandas().columns.to_list() == frame.columns


def test_pandas_that_is_not_there_names_its_extra(monkeypatch):
    real = builtins.__import__

    def without_pandas(name, *more):
        if name == "pandas":
            raise ModuleNotFoundError(name=name)
        return real(name, *more)

    scores = evaluate(QRELS, FIRST, ["RR"])
    monkeypatch.setattr(builtins, "__import__", without_pandas)

    with pytest.raises(MissingPackageError, match=re.escape("benchwright[pandas]")):
        scores.to_pandas()


def test_notebook_shows_a_table_with_each_interval_drawn_and_nothing_live():
    scores = evaluate(QRELS, FIRST, ["nDCG@10", "RR"])
    runs = {"<script>alert(1)</script>": FIRST, "second & last": SECOND}
    compared = compare_runs(QRELS, runs, ["nDCG@10", "RR"])

    assert len(parts(scores._repr_html_()).findall(".//svg")) == 2
    both = parts(compared._repr_html_())
    assert len(both.findall(".//svg")) == 2 * (2 + 1)
    assert "<script>alert(1)</script>" in [cell.text for cell in both.iter("td")]


def test_lists_of_runs_compare_in_one_call_by_their_files(tmp_path: Path):
    lines = [
        f"{query} Q0 {doc} 1 {score} t\n"
        for query, of in FIRST.items()
        for doc, score in of.items()
    ]
    paths = [tmp_path / folder / "a.run" for folder in ("one", "two")]
    for path in paths:
        path.parent.mkdir()
        path.write_text("".join(lines))
    runs = compare_runs(QRELS, [*paths, SECOND], ["MRR"], baseline=paths[0])

    assert runs.runs == (str(paths[0]), str(paths[1]), "run 3")
    assert [pair.reference for pair in runs.pairs] == [str(paths[0])] * 2
    assert runs.pairs_of("MRR")[0].difference == 0
    assert runs.summaries_of("recip_rank")[2].mean == 1.0
