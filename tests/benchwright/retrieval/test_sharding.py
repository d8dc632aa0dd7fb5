"""A corpus in parts gives the very results of a whole one."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.errors import CutoffError, DuplicateDocumentError
from benchwright.retrieval import SYSTEMS, Parameters, build_index
from benchwright.retrieval.errors import ShardsDifferError, StoreError
from benchwright.retrieval.sparse import sharding
from benchwright.retrieval.sparse.counting import Statistics

WORDS = st.lists(st.sampled_from(["red", "blue", "fishes", "fish", "at", "é", "ocean"]), max_size=9)
TEXTS = st.lists(WORDS.map(" ".join), max_size=12)
THREE = [("a", "red fish"), ("b", "red red bird"), ("c\n", "blue")]


def counted(system, parts, folder, **options):
    folders = [folder / f"part-{number}" for number in range(len(parts))]
    for part, one in zip(parts, folders, strict=True):
        sharding.count_shard(system, part, one, **options)
    statistics = sharding.merged_statistics([sharding.read_statistics(one) for one in folders])
    return folders, statistics


def sharded(system, parts, queries, folder, *, k, **options):
    folders, statistics = counted(system, parts, folder, **options)
    answers = [sharding.search_shard(one, statistics, queries, k=k) for one in folders]
    return list(sharding.merged_results(answers, k=k))


@pytest.mark.parametrize("system", SYSTEMS)
@settings(max_examples=12, deadline=None)
@given(texts=TEXTS, asked=TEXTS, n=st.integers(1, 4), k=st.integers(1, 5))
def test_shards_equal_the_whole_to_the_last_bit(tmp_path_factory, system, texts, asked, n, k):
    documents = [(f"d{number}", text) for number, text in enumerate(texts)]
    queries = [(f"q{number}", text) for number, text in enumerate(asked)]
    parts = [documents[start::n] for start in range(n)]

    merged = sharded(system, parts, queries, tmp_path_factory.mktemp("shards"), k=k)

    assert merged == list(build_index(system, documents).search(queries, k=k))


def test_parameters_and_language_go_with_the_shard(tmp_path):
    documents = [("a", "die Häuser"), ("b", "ein Haus, noch ein Haus")]
    chosen = Parameters(language="german", k1=0.5, b=0.1)

    merged = sharded("bm25-stem", [documents], [("q", "Häuser")], tmp_path, k=5, parameters=chosen)

    index = build_index("bm25-stem", documents, parameters=chosen)
    assert merged == list(index.search([("q", "Häuser")], k=5))
    assert [docid for docid, _ in merged[0][1]] == ["b", "a"]


def test_shard_counted_twice_is_the_same_shard(tmp_path):
    place = tmp_path / "shards"
    folders, _ = counted("bm25", [THREE], place)
    before = {path.name: path.read_bytes() for path in folders[0].iterdir()}

    counted("bm25", [THREE], place)

    assert {path.name: path.read_bytes() for path in folders[0].iterdir()} == before
    assert [path.name for path in place.iterdir()] == ["part-0"]


def test_statistics_survive_a_file(tmp_path):
    _, statistics = counted("bm25", [THREE[:2], THREE[2:]], tmp_path)
    statistics.write(tmp_path / "all.json")

    read = Statistics.read(tmp_path / "all.json")

    assert (read.n_documents, read.summed_length) == (3, 6)
    assert dict(read.vocabulary) == dict(statistics.vocabulary)
    assert read.frequencies.tolist() == statistics.frequencies.tolist()
    assert read.made_by == statistics.made_by


def test_damaged_statistics_are_refused(tmp_path):
    (tmp_path / "all.json").write_text("{")

    with pytest.raises(StoreError, match="Count the shards again"):
        Statistics.read(tmp_path / "all.json")


def test_shards_of_different_systems_are_not_merged(tmp_path):
    sharding.count_shard("bm25", THREE, tmp_path / "one")
    sharding.count_shard("bm25-stem", THREE, tmp_path / "two")
    both = [sharding.read_statistics(tmp_path / name) for name in ("one", "two")]

    with pytest.raises(ShardsDifferError, match=r"bm25.*bm25-stem"):
        sharding.merged_statistics(both)


def test_statistics_of_another_system_do_not_search_a_shard(tmp_path):
    sharding.count_shard("bm25", THREE, tmp_path / "one")
    sharding.count_shard("tfidf-word", THREE, tmp_path / "two")

    with pytest.raises(ShardsDifferError, match="system=tfidf-word"):
        sharding.search_shard(
            tmp_path / "one", sharding.read_statistics(tmp_path / "two"), [("q", "red")], k=1
        )


def test_document_in_two_shards_is_found_out(tmp_path):
    parts = [THREE, [("a", "red fish")]]

    with pytest.raises(ShardsDifferError, match="query q: one document is in two"):
        sharded("bm25", parts, [("q", "red")], tmp_path, k=9)


def test_document_twice_in_one_shard_is_refused_by_name(tmp_path):
    with pytest.raises(DuplicateDocumentError, match="'a' is in the corpus 2 times"):
        sharding.count_shard("bm25", [*THREE, ("a", "")], tmp_path / "one")


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ([[("q1", [])], [("q2", [])]], "queries q1, q2 in one place"),
        ([[("q1", []), ("q2", [])], [("q1", [])]], "1 of them answered fewer queries"),
    ],
)
def test_shards_that_were_asked_differently_are_not_merged(answers, words):
    with pytest.raises(ShardsDifferError, match=words):
        list(sharding.merged_results(answers, k=1))


def test_merging_to_less_than_one_result_is_refused_at_the_call():
    with pytest.raises(CutoffError):
        sharding.merged_results([], k=0)


def test_ties_between_shards_go_by_descending_bytes_of_the_id():
    answers = [[("q", [("b", 1.0), ("a", 1.0)])], [("q", [("é", 1.0), ("aa", 1.0)])]]

    [(_, merged_result)] = sharding.merged_results(answers, k=3)

    assert [docid for docid, _ in merged_result] == ["é", "b", "aa"]


def damage_cut(folder):
    path = folder / "counts.npy"
    path.write_bytes(path.read_bytes()[:-3])


def damage_flip(folder):
    path = folder / "docids.json"
    path.write_bytes(path.read_bytes().replace(b'"a"', b'"x"'))


def damage_manifest(folder):
    (folder / "manifest.json").write_text("{")


def damage_gone(folder):
    (folder / "features.npy").unlink()


def damage_kind(folder):
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "kind": "else"}))


@pytest.mark.parametrize(
    "damage", [damage_cut, damage_flip, damage_manifest, damage_gone, damage_kind]
)
def test_damaged_shard_is_refused_with_what_to_do(tmp_path, damage):
    folders, statistics = counted("bm25", [THREE], tmp_path)

    damage(folders[0])

    with pytest.raises(StoreError, match=r"part-0: .*Make it again"):
        sharding.search_shard(folders[0], statistics, [("q", "red")], k=1)


def test_folder_of_somebody_else_is_left_alone(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("three years")

    with pytest.raises(StoreError, match="not written by this program"):
        sharding.count_shard("bm25", THREE, tmp_path / "mine")

    assert (tmp_path / "mine" / "thesis.txt").read_text() == "three years"


def test_failure_while_counting_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("benchwright.retrieval.storing.json.dumps", lambda *_, **__: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        sharding.count_shard("bm25", THREE, tmp_path / "shards" / "one")

    assert list((tmp_path / "shards").iterdir()) == []
