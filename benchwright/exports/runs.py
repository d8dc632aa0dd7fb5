"""A run in TREC's form, and beside it what is known of the system."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from benchwright.exports.exporter import Member
from benchwright.formats.trec import RunRow, write_run

METADATA = "ir-metadata.yml"


def run_members(
    name: str, rows: Iterable[tuple[str, str, float, int]], metadata: Mapping[str, Any]
) -> Iterator[Member]:
    """Yield `<name>.run` and, where anything is known, `ir-metadata.yml`.

    Parameters
    ----------
    name
        What the run is called; its tag too, where the metadata has none.
    rows
        Query, document, score and rank, best first in each query.
    metadata
        As `ir_metadata` has it: kept as it is. It stands in a file of its own, because most readers
        of runs stop at a comment.
    """
    tag = str(metadata.get("tag") or name).encode()
    lines = (RunRow(0, qid.encode(), docid.encode(), s, rank, tag) for qid, docid, s, rank in rows)
    yield f"{name}.run", write_run(lines)
    if metadata:
        yield METADATA, [metadata_yaml(metadata)]


def metadata_yaml(metadata: Mapping[str, Any]) -> bytes:
    """Return what is known of a system as YAML, the keys sorted."""
    import yaml

    written: str = yaml.safe_dump(dict(metadata), sort_keys=True, allow_unicode=True, width=100)
    return written.encode()
