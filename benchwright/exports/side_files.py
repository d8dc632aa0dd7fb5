"""What a release knows and the field's formats have no column for: a file each, beside theirs."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from benchwright.exports.exporter import Member
from benchwright.ids import sorted_ids
from benchwright.releases.machines import LABELS, NOTE, is_machine_judged, note_of
from benchwright.releases.source import ReleaseSource, public_manifest

MANIFEST = "manifest.json"
FAMILIES, SLICES, WEIGHTS = "families.tsv", "slices.tsv", "weights.tsv"


def side_files(source: ReleaseSource) -> Iterator[Member]:
    """Yield the manifest; families, slices, weights and words on machines where there are any."""
    if source.families:
        yield FAMILIES, _table("family", source.families.items())
    yield from machine_files(source)
    yield MANIFEST, [manifest_json(source.manifest)]
    if source.slices:
        pairs = ((qid, name) for name, qids in source.slices.items() for qid in qids)
        yield SLICES, _table("slice", pairs)
    if source.weights:
        weights = ((qid, repr(float(weight))) for qid, weight in source.weights.items())
        yield WEIGHTS, _table("weight", weights)


def machine_files(source: ReleaseSource) -> Iterator[Member]:
    """Yield MACHINE_JUDGED.md of grades by no person, machine_labels.tsv of labels beside them."""
    if is_machine_judged(source.manifest):
        yield NOTE, [note_of(source.manifest)]
    if source.machine_labels is not None:
        yield LABELS, source.machine_labels()


def manifest_json(manifest: Mapping[str, Any]) -> bytes:
    """Return a manifest as its file has it, without what tells of hidden grades."""
    public = public_manifest(manifest)
    return json.dumps(public, indent=2, sort_keys=True, ensure_ascii=False).encode()


def _table(column: str, rows: Iterable[tuple[str, str]]) -> Iterator[bytes]:
    """Yield a header and `query-id<TAB>value` lines by the bytes of both."""
    yield f"query-id\t{column}\n".encode()
    for line in sorted_ids(f"{qid}\t{value}\n" for qid, value in rows):
        yield line.encode()
