"""Reads every export of a folder with BEIR's own loader and compares with what it should hold.

Run with the Python that has `tests/readers/requirements.lock`: `check_beir.py FOLDER`.
Exits 1 where anything differs.
"""

import json
import sys
import zipfile
from pathlib import Path

from beir.datasets.data_loader import GenericDataLoader


def differences(archive: Path) -> list[str]:
    """What BEIR reads otherwise than `<stem>.expected.json` says."""
    folder = archive.with_suffix("")
    zipfile.ZipFile(archive).extractall(archive.parent)
    expected = json.loads(archive.with_suffix(".expected.json").read_text("utf-8"))
    wrong = []
    for split, qrels in expected["qrels"].items():
        corpus, queries, read = GenericDataLoader(str(folder)).load(split=split)
        wanted = {qid: expected["queries"][qid] for qid in qrels}
        wrong += [
            f"{archive.name} {split}: {what}"
            for what, is_same in (
                ("corpus", corpus == expected["corpus"]),
                ("queries", queries == wanted),
                ("qrels", read == qrels),
            )
            if not is_same
        ]
    return wrong


def main() -> None:
    archives = sorted(Path(sys.argv[1]).glob("*.zip"))
    if not archives:
        sys.exit("no export to read")
    wrong = [line for archive in archives for line in differences(archive)]
    for line in wrong:
        print("differs:", line)
    print(f"BEIR's GenericDataLoader read {len(archives)} exports, {len(wrong)} differences")
    print(f"{len(archives) - bool(wrong)} passed, {len(wrong)} failed")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
