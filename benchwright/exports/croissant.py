"""BEIR's folder with croissant.json, which says what its files are and pins them by their hash."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchwright.exports.beir import members as beir_members
from benchwright.exports.exporter import Exporter, Member, Snippet
from benchwright.formats.unlisted import NOT_RELEVANT, unlisted_of, unlisted_sentence
from benchwright.releases.machines import labels_sentences, machine_sentence, machine_title
from benchwright.releases.source import ReleaseSource

CROISSANT_JSON = "croissant.json"


def members(source: ReleaseSource, work: Path) -> Iterator[Member]:
    """Yield BEIR's members, and at the end the metadata with the hash of each."""
    files: dict[str, dict[str, Any]] = {}
    for name, pieces in beir_members(source, work):
        yield name, _noted(pieces, files.setdefault(name, {}))
    yield CROISSANT_JSON, [croissant_json(source, files)]


def _noted(pieces: Iterable[bytes], facts: dict[str, Any]) -> Iterator[bytes]:
    """Yield the pieces, and then note their hash and size."""
    digest, n_bytes = hashlib.sha256(), 0
    for piece in pieces:
        digest.update(piece)
        n_bytes += len(piece)
        yield piece
    facts.update(sha256=digest.hexdigest(), n_bytes=n_bytes)


CROISSANT = Exporter(
    name="croissant",
    label="Croissant",
    about="BEIR's folder with croissant.json, which describes its files and pins them by SHA-256.",
    needs_texts=True,
    loses=(),
    members=members,
    snippets=(
        Snippet(
            "mlcroissant",
            "import mlcroissant\n\n"
            'dataset = mlcroissant.Dataset("{folder}/croissant.json")\n'
            'for row in dataset.records("qrels/{split}"):\n'
            "    print(row)",
        ),
    ),
    suffix="-croissant",
)

# --- croissant.json ------------------------------------------------------------------------------


CONFORMS_TO = ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"]
# "application/x-jsonlines" is another name of it, at which mlcroissant 1.1 stops.
JSONL, TSV = "application/jsonlines", "text/tab-separated-values"
TEXT, INTEGER = "sc:Text", "sc:Integer"
TERMS = (
    "citeAs column conformsTo data:@json dataType:@vocab equivalentProperty examples:@json "
    "extract field fileProperty "
    "fileObject fileSet format includes isLiveDataset jsonPath key md5 parentField path recordSet "
    "references regex repeated replace samplingRate separator source subField transform"
)

Columns = Sequence[tuple[str, str]]


def croissant_json(source: ReleaseSource, files: Mapping[str, Mapping[str, Any]]) -> bytes:
    """Return croissant.json for a release and the files of its BEIR folder.

    Parameters
    ----------
    files
        Of each file, by its name in the folder: `sha256`, and `n_bytes` where it is known. Files
        that are not BEIR's are left out.
    """
    return json.dumps(croissant(source, files), indent=2, ensure_ascii=False).encode() + b"\n"


def croissant(source: ReleaseSource, files: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the metadata as an object; see `croissant_json`."""
    named = [name for name in sorted(files) if _columns_of(name)]
    metadata = {
        "@context": _context(),
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": source.slug,
        "description": _described(source),
        "version": source.version,
        "isLiveDataset": False,
        "license": source.licence or None,
        "citeAs": source.citation or None,
        "inLanguage": source.lang or None,
        "datePublished": source.manifest.get("published_at"),
        "url": source.manifest.get("url"),
        **_annotation(source),
        "distribution": [_file(name, files[name]) for name in named],
        "recordSet": [_records(name) for name in named],
    }
    return {key: value for key, value in metadata.items() if value is not None}


def _described(source: ReleaseSource) -> str:
    """The description; that a machine gave the grades stands where everybody reads first."""
    words = source.description or source.title or source.slug
    sentence = machine_sentence(source.manifest)
    return "\n\n".join(
        [
            words,
            *(
                [f"{machine_title(source.manifest)}: {sentence}"]
                if sentence
                else labels_sentences(source.manifest)
            ),
        ]
    )


def _context() -> dict[str, Any]:
    terms: dict[str, Any] = {
        "@language": "en",
        "@vocab": "https://schema.org/",
        "sc": "https://schema.org/",
        "cr": "http://mlcommons.org/croissant/",
        "rai": "http://mlcommons.org/croissant/RAI/",
        "dct": "http://purl.org/dc/terms/",
    }
    for term in TERMS.split():
        name, _, kind = term.partition(":")
        terms[name] = {"@id": f"cr:{name}", "@type": kind} if kind else f"cr:{name}"
    terms["conformsTo"] = "dct:conformsTo"
    return terms


def _annotation(source: ReleaseSource) -> dict[str, Any]:
    """Return how the grades came about, in the words of Croissant's responsible AI terms."""
    qrels = source.manifest.get("qrels") or {}
    labels = qrels.get("labels_per_pair")
    scale = ", ".join(f"{grade['value']} = {grade['name']}" for grade in source.grades)
    protocol = f"Each judged pair of query and document has one grade: {scale}. " if scale else ""
    protocol += f"A document is relevant from grade {source.threshold} on."
    if sentence := machine_sentence(source.manifest):
        protocol += f" {sentence}"
    if unlisted_of(source.manifest) == NOT_RELEVANT:
        protocol += f" {unlisted_sentence(NOT_RELEVANT)}"
    if qrels.get("rule"):
        protocol += f" The grade of a pair follows from its labels by the rule {qrels['rule']}."
    return {
        "rai:dataAnnotationProtocol": protocol,
        "rai:dataAnnotationPlatform": "Benchwright",
        "rai:dataAnnotationAnalysis": _agreement(qrels.get("agreement") or {}),
        "rai:annotationsPerItem": None if labels is None else f"{labels:g}",
    }


def _agreement(agreement: Mapping[str, Any]) -> str | None:
    """Return how far annotators agreed, in a sentence, or None where nobody knows."""
    if not agreement:
        return None
    if agreement.get("alpha") is None:
        return "No pair was labelled by two annotators, so agreement cannot be told."
    alpha, low, high = (agreement.get(key) for key in ("alpha", "low", "high"))
    interval = "" if low is None or high is None else f" (95 % interval {low:.3f} to {high:.3f})"
    return (
        f"Krippendorff's alpha {alpha:.3f}{interval}, from {agreement.get('n_doubled')} pairs with "
        f"two labels or more, by {agreement.get('n_annotators')} annotators."
    )


def _file(name: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    n_bytes = facts.get("n_bytes")
    entry = {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": None if n_bytes is None else f"{n_bytes} B",
        "encodingFormat": JSONL if name.endswith(".jsonl") else TSV,
        "sha256": facts["sha256"],
    }
    return {key: value for key, value in entry.items() if value is not None}


def _columns_of(name: str) -> Columns:
    if name == "corpus.jsonl":
        return (("_id", TEXT), ("title", TEXT), ("text", TEXT))
    if name == "queries.jsonl":
        return (("_id", TEXT), ("text", TEXT))
    if name.startswith("qrels/") and name.endswith(".tsv"):
        return (("query-id", TEXT), ("corpus-id", TEXT), ("score", INTEGER))
    return ()


def _records(name: str) -> dict[str, Any]:
    """Return the record set of a file: `corpus`, `queries`, `qrels/test`."""
    called = name.rpartition(".")[0]
    columns = _columns_of(name)
    record_set: dict[str, Any] = {"@type": "cr:RecordSet", "@id": called, "name": called}
    if columns[0][0] == "_id":
        record_set["key"] = {"@id": f"{called}/_id"}
    record_set["field"] = [_field(name, called, column, kind) for column, kind in columns]
    return record_set


def _field(name: str, called: str, column: str, kind: str) -> dict[str, Any]:
    # No `references` to the other table: mlcroissant 1.1 stops at a join of TSV with JSON lines.
    return {
        "@type": "cr:Field",
        "@id": f"{called}/{column}",
        "name": f"{called}/{column}",
        "dataType": kind,
        "source": {"fileObject": {"@id": name}, "extract": {"column": column}},
    }
