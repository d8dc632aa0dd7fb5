"""What was paid for is kept, in a file that only grows."""

import multiprocessing
from itertools import pairwise

import pytest

from benchwright.contextual.judging import cache_key, judged, outcomes_of
from benchwright.contextual.prompts import content_digest
from benchwright.contextual.serial import FileCache, outcome_as_json, outcome_from_json
from benchwright.contextual.types import Options, Outcome
from benchwright.judges.errors import CacheFileError
from tests.benchwright.contextual.scripted import Scripted, answer, case

KEYS = [f"{number:064x}" for number in range(1000)]


def test_second_evaluation_asks_nothing(tmp_path):
    path = tmp_path / "cache"
    with FileCache(path) as cache:
        first = judged(case(2), Scripted(answer(True, False)), cache=cache)
    silent = Scripted()

    with FileCache(path) as cache:
        again = judged(case(2, id="other", slices=("s",)), silent, cache=cache)

    assert silent.asked == []
    assert (again.score, again.reason, again.verdicts) == (
        first.score,
        first.reason,
        first.verdicts,
    )
    assert (again.case_id, again.slices, again.is_cached) == ("other", ("s",), True)
    assert again.seconds == 0.0
    assert again.answers == first.answers


def test_threshold_and_strict_mode_are_applied_anew(tmp_path):
    with FileCache(tmp_path / "cache") as cache:
        judged(case(2), Scripted(answer(False, True)), cache=cache)
        strict = judged(case(2), Scripted(), Options(strict_mode=True), cache)
        lenient = judged(case(2), Scripted(), Options(threshold=0.2), cache)

    assert (strict.score, strict.is_success) == (0.0, False)
    assert (lenient.score, lenient.is_success) == (0.5, True)


def test_failed_and_half_failed_cases_are_asked_again(tmp_path):
    with FileCache(tmp_path / "cache") as cache:
        judged(case(2), Scripted(ValueError("now")), cache=cache)
        judged(case(2), Scripted(answer(True, True), "no", "no"), cache=cache)

        assert len(cache) == 0
        assert judged(case(2), Scripted(answer(True, False)), cache=cache).score == 1.0
        assert len(cache) == 1


def test_key_follows_content_words_model_and_reason(monkeypatch):
    class Other(Scripted):
        model = "another"

    class Elsewhere(Scripted):
        fingerprint = "http://elsewhere"

    digest = content_digest(case(2))
    keys = {
        cache_key(digest, Scripted(), Options()),
        cache_key(content_digest(case(3)), Scripted(), Options()),
        cache_key(digest, Other(), Options()),
        cache_key(digest, Elsewhere(), Options()),
        cache_key(digest, Scripted(), Options(include_reason=False)),
    }
    monkeypatch.setattr("benchwright.contextual.judging.TEMPLATE", "other words")
    keys.add(cache_key(digest, Scripted(), Options()))

    assert len(keys) == 6
    assert cache_key(digest, Scripted(), Options(threshold=0.1)) in keys


def test_outcome_survives_json():
    whole = judged(case(2), Scripted({"verdicts": {}}, answer(True, False)))
    failed = judged(case(2), Scripted(ValueError("x")))

    for outcome in (whole, failed):
        assert outcome_from_json(outcome_as_json(outcome)) == outcome


def test_line_cut_short_by_a_crash_is_passed_over(tmp_path):
    path = tmp_path / "cache"
    with FileCache(path) as cache:
        for key in KEYS[:3]:
            cache.put(key, Outcome("c", 0.25))
    path.write_bytes(path.read_bytes()[:-20])

    with FileCache(path) as cache:
        assert [cache.get(key) is not None for key in KEYS[:4]] == [True, True, False, False]
        cache.put(KEYS[3], Outcome("d", 0.5))
    with FileCache(path) as cache:
        assert cache.get(KEYS[3]).score == 0.5
        assert cache.get(KEYS[0]).score == 0.25


def test_damaged_entry_is_asked_again_and_the_last_of_a_key_counts(tmp_path):
    path = tmp_path / "cache"
    with FileCache(path) as cache:
        cache.put(KEYS[0], Outcome("c", 0.25))
        cache.put(KEYS[0], Outcome("c", 0.75))
        cache.put(KEYS[1], Outcome("c", 1.0))
    path.write_bytes(path.read_bytes().replace(b'"score": 1.0', b'"sc\\ore": 1'))

    with FileCache(path) as cache:
        assert cache.get(KEYS[0]).score == 0.75
        assert cache.get(KEYS[1]) is None


def test_entry_costs_the_same_however_many_there_are(tmp_path):
    """Bytes written are the entries' own: nothing is written twice."""
    path, sizes = tmp_path / "cache", []
    with FileCache(path) as cache:
        for key in KEYS:
            cache.put(key, Outcome("c", 0.5))
            sizes.append(path.stat().st_size)

    grown = {after - before for before, after in pairwise(sizes)}
    assert len(grown) == 1


@pytest.mark.parametrize("content", [b"hello\n", b'{"input": "x"}\n', b"\x00" * 100])
def test_file_of_something_else_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "mine.txt"
    path.write_bytes(content)

    with pytest.raises(CacheFileError, match=r"mine\.txt: it begins with other words"):
        FileCache(path)

    assert path.read_bytes() == content


def add_some(path, keys):
    with FileCache(path) as cache:
        for key in keys:
            cache.put(key, Outcome(key, 0.5, reason="x" * 5000))


def test_processes_may_share_a_file(tmp_path):
    path = tmp_path / "cache"
    add_some(path, KEYS[:1])
    context = multiprocessing.get_context("fork")
    both = [context.Process(target=add_some, args=(path, KEYS[n:200:2])) for n in (0, 1)]

    for process in both:
        process.start()
    for process in both:
        process.join()

    with FileCache(path) as cache:
        assert all(cache.get(key).case_id == key for key in KEYS[:200])


def test_file_is_readable_by_its_owner_alone(tmp_path):
    with FileCache(tmp_path / "cache"):
        pass

    assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o600


def test_bulk_uses_the_cache(tmp_path):
    cases = [case(1, input=f"q{number}", id=str(number)) for number in range(5)]
    with FileCache(tmp_path / "cache") as cache:
        list(outcomes_of(cases, Scripted(*[answer(True)] * 5), Options(None, False), cache=cache))
        again = list(outcomes_of(cases, Scripted(), Options(None, False), cache=cache))

    assert [outcome.is_cached for outcome in again] == [True] * 5
