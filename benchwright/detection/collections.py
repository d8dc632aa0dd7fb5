"""What the files of a collection are: by its README, by agreed names, by content."""

import fnmatch
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchwright.detection.files import Guess, detect, guess, guess_as
from benchwright.detection.kinds import CONTENT_OF, QUERY_KINDS, FileKind
from benchwright.errors import ArchiveError, FileProblemsError, MissingFileError
from benchwright.files.inputs import MemberInput
from benchwright.files.sources import Source
from benchwright.formats.errors import UnreadableKindError
from benchwright.formats.mapping import EVERY_ROW, is_complete
from benchwright.formats.tables import Form, head_of

MAX_README_BYTES = 1 << 20
# Said of a benchmark, or made from its other files.
BESIDE = re.compile(
    r"(^|/)(readme|licen[cs]e|citation|changelog|notice|dataset_infos?|leaderboard)[^/]*$"
    r"|\.(md|bib|ya?ml|json|py|png|jpe?g|gif|webp|tiff?|svg|pdf|html?|sha256|lock)(\.gz)?$",
    re.IGNORECASE,
)
SPREADSHEET = re.compile(r"^(xl/|\[Content_Types\]\.xml)")
QRELS_FOLDER = re.compile(
    r"(^|/)qrels/([^/]+?)(-\d{5}-of-\d{5})?\.(tsv|jsonl|csv|parquet)(\.(gz|zst))?$"
)
SHARD = re.compile(
    r"(^|/)([^/]+)/([a-z]+)(-\d{5}-of-\d{5}[^/]*)?\.(parquet|jsonl|csv|tsv)(\.(gz|zst))?$"
)
OURS = {
    "families.tsv": FileKind.FAMILIES,
    "slices.tsv": FileKind.SLICES,
    "weights.tsv": FileKind.WEIGHTS,
}
MACHINE_LABELS = "machine_labels.tsv"
SPLITS = {
    "train": "train", "training": "train",
    "dev": "dev", "validation": "dev", "valid": "dev", "val": "dev",
    "test": "test",
}  # fmt: skip
# What MS MARCO has beside its qrels: triples for training, candidates to rerank.
CANDIDATES = re.compile(r"(^|/)(qid?pid)?(triples|top\d+)[^/]*$", re.IGNORECASE)
POSITIVES = "has no grades, as sets of positives have none: every row is relevant (grade 1)"
NOT_TAKEN = {
    "top_ranked": "candidates to rerank are not taken",
    "instruction": "instructions are not taken",
}


@dataclass(frozen=True)
class Part:
    """One file of an import: what it is, and how it is read. `member` is empty for a lone file.

    `kind` is None where it is left out, and `note` says why. `is_rest` takes the grades below 0
    alone: the others stand in files of their own. `is_unknown` is left out because nobody can tell
    what it is, and not because it is not wanted.
    """

    member: str
    kind: FileKind | None
    mapping: Mapping[str, str] = field(default_factory=dict)
    split: str = ""
    lang: str = ""
    has_header: bool | None = None
    note: str = ""
    is_rest: bool = False
    is_unknown: bool = False

    def as_json(self) -> dict[str, Any]:
        """The part as a job keeps it."""
        return {
            "member": self.member,
            "kind": self.kind,
            "mapping": dict(self.mapping),
            "split": self.split,
            "lang": self.lang,
            "header": self.has_header,
            "rest": self.is_rest,
        }

    @classmethod
    def of_json(cls, part: Mapping[str, Any]) -> "Part":
        """The part that `as_json` wrote."""
        kind = part.get("kind")
        return cls(
            member=part.get("member", ""),
            kind=FileKind(kind) if kind else None,
            mapping=part.get("mapping") or {},
            split=part.get("split") or "",
            lang=part.get("lang") or "",
            has_header=part.get("header"),
            is_rest=bool(part.get("rest")),
        )


def part_of(member: str, guessed: Guess, **more: Any) -> Part:
    """The part that a guess suggests."""
    layout = guessed.layout
    is_cells = layout is not None and layout.form in (Form.CSV, Form.TSV)
    return Part(
        member=member,
        kind=guessed.kind,
        mapping=dict(guessed.mapping),
        lang=guessed.lang if guessed.kind in QUERY_KINDS else "",
        has_header=layout.has_header if layout is not None and is_cells else None,
        note=guessed.doubt,
        **more,
    )


def parts_of_collection(source: Source, folder: Path) -> list[Part]:
    """Return every file of a collection, those left out with the reason.

    Raises
    ------
    ArchiveError
        If one of them is damaged.
    MissingFileError
        If none of them can be read.
    UnreadableKindError
        If it is a spreadsheet.
    """
    members = source.members()
    if any(SPREADSHEET.match(member) for member in members):
        advice = "Save each sheet as CSV UTF-8."
        raise UnreadableKindError(file=source.name, what="a spreadsheet", advice=advice)
    configs = _configs(source, members)
    parts = [_part(source, member, folder, configs) for member in members]
    parts = list(_without_doubles(parts))
    if not any(part.kind for part in parts):
        listed = ", ".join(members[:5]) + (", …" if len(members) > 5 else "")
        raise MissingFileError(
            place=source.name,
            expected="corpus.jsonl, queries.jsonl, qrels/*.tsv or other file of a benchmark",
            advice=f"It holds: {listed or 'no file'}. Put the file beside the others, "
            "plain or as .gz.",
        )
    return parts


def _part(
    source: Source, member: str, folder: Path, configs: Mapping[str, tuple[str, str]]
) -> Part:
    name = member.rsplit("/", 1)[-1].removesuffix(".gz")
    if name in OURS:
        return Part(member, OURS[name])
    if name == MACHINE_LABELS:
        return Part(member, None, note="labels of a machine are no qrels of people")
    if member.removesuffix(".gz") == "corpus.jsonl":
        with suppress(ArchiveError, FileProblemsError, UnreadableKindError):  # told of its rows
            table = guess(MemberInput(source, member), folder)
            if "image" in table.mapping and "text" not in table.mapping:
                return part_of(member, table)
        return Part(member, FileKind.CORPUS)
    qrels = QRELS_FOLDER.search(member)
    if qrels and qrels[4] == "tsv" and member not in configs:
        return _of_qrels_folder(source, member, folder, qrels[2])
    if member in configs:
        return _configured(source, member, folder, *configs[member])
    if BESIDE.search(member):
        return Part(member, None, note="stands beside the data")
    if CANDIDATES.search(member):
        return Part(member, None, note="triples and candidates to rerank are not taken")
    shard = SHARD.search(member)
    config = shard[2] if shard else ""
    if config in ("corpus", "queries", "qrels") or config in NOT_TAKEN:
        return _configured(source, member, folder, config, shard[3] if shard else "")
    try:
        guessed = guess(MemberInput(source, member), folder)
    except UnreadableKindError as error:
        return Part(member, None, note=str(error), is_unknown=True)
    if guessed.kind is None:
        note = guessed.doubt or "is of no known kind"
        return replace(part_of(member, guessed), note=note, is_unknown=True)
    # Of a split that its name says: `qrels.miracl-v1.0-sw-dev.tsv`; folders say less.
    is_graded = guessed.kind in (FileKind.QRELS, FileKind.QREL_TABLE)
    split = split_of_name(name).partition(".")[0] if is_graded else ""
    return part_of(member, guessed, split=split)


def _of_qrels_folder(source: Source, member: str, folder: Path, name: str) -> Part:
    """A TSV in a folder `qrels`: BEIR's, also where its header is missing, unless it is TREC's."""
    table = MemberInput(source, member)
    head = head_of(table)
    kind = detect(head.lines, member)
    if kind is FileKind.QRELS:
        return Part(member, kind, split=split_of_name(name).partition(".")[0])
    if head.lines and head.lines[0].count(b"\t") == 1:
        # Without a column of grades: somebody says what its rows are.
        guessed = guess_as(FileKind.QREL_TABLE, table, folder)
        return part_of(member, guessed, split=_split(name))
    return Part(member, FileKind.BEIR_QRELS, split=_split(name))


def _split(name: str) -> str:
    return SPLITS.get(name.lower(), name)


# README.md of a dataset repository


def _configs(source: Source, members: Sequence[str]) -> dict[str, tuple[str, str]]:
    """{member: (config, split)} as the YAML head of README.md says; empty where there is none."""
    readme = next((name for name in members if name.lower() == "readme.md"), None)
    head = _yaml_head(source, readme) if readme else None
    configs = head.get("configs") if isinstance(head, dict) else None
    configs_of: dict[str, tuple[str, str]] = {}
    for config in configs if isinstance(configs, list) else ():
        if not isinstance(config, dict):
            continue
        name = str(config.get("config_name", "default"))
        for split, pattern in data_files(config.get("data_files")):
            for member in members:
                if fnmatch.fnmatchcase(member, pattern.removeprefix("./")):
                    configs_of.setdefault(member, (name, split))
    return configs_of


def _yaml_head(source: Source, readme: str) -> Any:
    import yaml

    with source.opened(readme) as stream:
        text = stream.read(MAX_README_BYTES).decode(errors="replace")
    match = re.match(r"\ufeff?---\s*\n(.*?)\n---\s*(\n|\Z)", text, re.DOTALL)
    if not match:
        return None
    try:
        return yaml.safe_load(match[1])
    except yaml.YAMLError:
        return None


def data_files(value: Any) -> Iterator[tuple[str, str]]:
    """(split, pattern) of what a config lists."""
    if isinstance(value, str):
        yield "train", value
    elif isinstance(value, dict):
        for split, paths in value.items():
            yield from ((str(split), str(path)) for path in _listed(paths))
    elif isinstance(value, list):
        for entry in value:
            if isinstance(entry, dict):
                split = str(entry.get("split", "train"))
                yield from ((split, str(path)) for path in _listed(entry.get("path")))
            elif isinstance(entry, str):
                yield "train", entry


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if value else []


def _configured(source: Source, member: str, folder: Path, config: str, split: str) -> Part:
    """A file whose config says what it is: `corpus`, `de-queries`, `qrels`, `default`."""
    if config in NOT_TAKEN:
        return Part(member, None, note=NOT_TAKEN[config])
    lang, mark, plain = config.rpartition("-")
    table = MemberInput(source, member)
    kind = _KINDS.get(plain if mark else config)
    guessed = guess(table, folder) if kind is None else guess_as(kind, table, folder)
    part = part_of(member, guessed)
    if part.kind in (FileKind.QREL_TABLE, FileKind.BEIR_QRELS):
        part = replace(part, split=_split(split))
    if mark and lang and part.kind is FileKind.QUERIES:
        part = replace(part, lang=lang)
    # Query and document alone: the positives of sentence-transformers.
    has_two = len(guessed.columns) == 2 and {"query", "document"} == part.mapping.keys()
    if part.kind is FileKind.QREL_TABLE and has_two:
        part = replace(part, mapping={**part.mapping, "grade": EVERY_ROW}, note=POSITIVES)
    content = CONTENT_OF.get(part.kind) if part.kind else None
    if content and not is_complete(content, part.mapping):
        return replace(part, note=f"config {config}: say what its columns are")
    return part


_KINDS = {
    "corpus": FileKind.DOCUMENTS,
    "queries": FileKind.QUERIES,
    "qrels": FileKind.QREL_TABLE,
}


# What is there twice


def _without_doubles(parts: Sequence[Part]) -> Iterator[Part]:
    """Leave out what another file of the same collection says better."""
    names = {part.member for part in parts}
    has_split_qrels = any(part.kind in _QRELS and part.split for part in parts)
    has_topics = any(part.kind is FileKind.TOPICS for part in parts)
    has_queries = any(part.member.startswith("queries.jsonl") for part in parts)
    for part in parts:
        if part.member.endswith(".gz") and part.member.removesuffix(".gz") in names:
            yield replace(part, kind=None, note="is there unpacked as well")
        elif part.kind is FileKind.QRELS and has_split_qrels and not part.split:
            yield replace(part, is_rest=True, note="the grades of all splits; those below 0 count")
        elif part.kind is FileKind.QUERIES and has_topics and part.member.endswith(".tsv"):
            yield replace(part, kind=None, note="the topics say the same and more")
        elif part.kind is FileKind.TOPICS and has_queries:
            yield replace(part, kind=None, note="queries.jsonl says the same and more")
        else:
            yield part


_QRELS = (FileKind.QREL_TABLE, FileKind.BEIR_QRELS)
__all__ = ["Part", "part_of", "parts_of_collection"]

# --- which split a file is of, by the names that collections have given their files --------------


SPLIT = re.compile(
    r"(?:^|[/_.-])(train(?:ing)?|dev|valid(?:ation)?|val|test(?:[-_.]?[ab])?|eval)"
    r"(?:[._-](small|full))?(?=[/_.-]|$)",
    re.IGNORECASE,
)
SAME = {"training": "train", "validation": "dev", "valid": "dev", "val": "dev"}


def split_named(text: str) -> str:
    """Return a split as it is compared.

    >>> [split_named(text) for text in ("validation", "testA", "dev.small")]
    ['dev', 'test-a', 'dev.small']
    """
    name = text.strip().lower()
    if re.fullmatch(r"test[-_.]?[ab]", name):
        return f"test-{name[-1]}"
    return SAME.get(name, name)


def split_of_name(member: str) -> str:
    """Return the split that a file's name says, or else its folders, or nothing.

    >>> [split_of_name(name) for name in (
    ...     "topics.miracl-v1.0-sw-test-a.tsv", "queries/dev/german_queries.dev.small.tsv",
    ...     "sw/validation-00000-of-00001.parquet", "collection.tsv")]
    ['test-a', 'dev.small', 'dev', '']
    """
    folder, _, name = member.rpartition("/")
    for text in (name, folder):
        splits = SPLIT.findall(text)
        if splits:
            split, size = splits[-1]
            return split_named(split) + (f".{size.lower()}" if size else "")
    return ""
