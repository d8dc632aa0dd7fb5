"""Where the real collections are, and how the old formats among them are read."""

import os
import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


def data_folder(name: str) -> Path:
    root = Path(os.environ.get("BENCHWRIGHT_TEST_DATA", REPOSITORY.parent / "shared" / "data"))
    if not (root / name).is_dir():
        pytest.skip(f"no {root / name}: set BENCHWRIGHT_TEST_DATA")
    return root / name


def smart_blocks(path: Path) -> list[tuple[str, dict[str, str]]]:
    """Id and fields (T, A, B, W) of every block of a SMART file."""
    blocks = []
    for block in re.split(r"(?m)^\.I ", path.read_text("utf-8"))[1:]:
        docid, _, rest = block.partition("\n")
        parts = re.split(r"(?m)^\.([TABW])\n", rest)
        blocks.append((docid.strip(), dict(zip(parts[1::2], parts[2::2], strict=True))))
    return blocks
