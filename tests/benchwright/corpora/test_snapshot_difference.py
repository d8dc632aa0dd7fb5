"""What a snapshot changes: counted side by side, and as two dictionaries would say."""

from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.corpora import store as corpus_store
from benchwright.corpora.snapshots import difference
from benchwright.corpora.store import CorpusReader, write_corpus
from benchwright.errors import Problems
from benchwright.formats.beir import CorpusRow


def reader_of(rows, folder):
    corpus = write_corpus(rows, directory=folder, problems=Problems(), file="c.jsonl")
    return CorpusReader(corpus.parquet, corpus.index)


def rows_of(texts):
    return [CorpusRow(n, docid, "", text) for n, (docid, text) in enumerate(texts.items(), 1)]


def test_added_changed_described_and_removed_are_told_apart(tmp_path):
    old = rows_of({"a": "1", "b": "1", "c": "1", "d": "1", "é": "1"})
    new = [*rows_of({"a": "1", "c": "2", "é": "1", "z": "new"})]
    new[0] = new[0]._replace(metadata={"k": 1})

    change = difference(
        reader_of(old, tmp_path / "old"),
        reader_of(new, tmp_path / "new"),
        watched={"a", "b", "c", "nowhere"},
    )

    counts = (change.n_added, change.n_changed, change.n_described, change.n_removed)
    assert counts == (1, 1, 1, 2)
    assert change.n_unchanged == 1
    assert change.examples == {
        "added": ["z"],
        "changed": ["c"],
        "described": ["a"],
        "removed": ["b", "d"],
    }
    # Other metadata is not what a label was given for.
    assert (change.moved, change.gone) == ({"c"}, {"b"})


def test_a_document_of_passages_moves_with_any_of_them_and_is_gone_with_the_last(tmp_path):
    def passages(**texts):
        return [
            CorpusRow(n, docid.replace("_", "#"), "", text, parent=docid.split("_")[0])
            for n, (docid, text) in enumerate(texts.items(), 1)
        ]

    old = passages(x_0="one", x_1="two", y_0="three", z_0="four")
    new = passages(x_0="one", x_1="other", z_0="four", z_1="more")

    change = difference(
        reader_of(old, tmp_path / "old"),
        reader_of(new, tmp_path / "new"),
        watched={"x", "y", "z"},
    )

    assert (change.moved, change.gone) == ({"x", "z"}, {"y"})


texts = st.dictionaries(
    st.text("abcé#1", min_size=1, max_size=3), st.sampled_from("xyz"), min_size=1, max_size=40
)


@settings(max_examples=25)
@given(old=texts, new=texts)
def test_counts_are_those_of_two_dictionaries(old, new, tmp_path_factory):
    folder = tmp_path_factory.mktemp("difference")
    before = corpus_store.MAX_GROUP_ROWS
    corpus_store.MAX_GROUP_ROWS = 3
    try:
        change = difference(
            reader_of(rows_of(old), folder / "old"), reader_of(rows_of(new), folder / "new")
        )
    finally:
        corpus_store.MAX_GROUP_ROWS = before

    both = old.keys() & new.keys()
    assert change.n_added == len(new.keys() - old.keys())
    assert change.n_removed == len(old.keys() - new.keys())
    assert change.n_changed == sum(old[docid] != new[docid] for docid in both)
    assert change.n_unchanged == sum(old[docid] == new[docid] for docid in both)


def test_progress_ends_at_the_total(tmp_path):
    results = []
    same = rows_of({f"d{n}": "x" for n in range(50)})

    difference(
        reader_of(same, tmp_path / "old"),
        reader_of(same, tmp_path / "new"),
        progress=lambda done, total: results.append((done, total)),
    )

    assert results[-1] == (50, 50)
