"""Files that a power cut leaves whole; how they reach the disk is seen in the store's tests."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

from benchwright.files.durable import make_folder, put_first


def test_of_many_at_once_the_first_is_kept_and_everybody_gets_it_whole(tmp_path):
    contents = [bytes([n]) * 100_000 for n in range(8)]

    with ThreadPoolExecutor(8) as threads:
        kept = list(threads.map(partial(put_first, tmp_path / "key", mode=0o600), contents))

    assert kept[0] in contents
    assert set(kept) == {(tmp_path / "key").read_bytes()}
    assert len(list(tmp_path.glob("key*"))) == 1
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600


def test_a_folder_that_is_there_stays(tmp_path):
    for _ in range(2):
        make_folder(tmp_path / "a" / "b")

    assert (tmp_path / "a" / "b").is_dir()
