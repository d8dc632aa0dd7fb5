"""A release before it is one: its files, what is in it, its difference to the one before, findings.

The same steps make what a draft's page shows and what is published, so that nobody publishes
anything else than was looked at.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from benchmarks_app.common.selectors.reading import (
    documents_in_unit,
    n_documents_in_unit,
    release_file_path,
)
from benchmarks_app.common.services.judged_shares import judged_shares
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, CorpusVersion, QrelSet, Release, Role
from benchmarks_app.release_facts import facts_of
from benchmarks_app.releases.selectors import release_source, release_splits, source_of_files
from benchmarks_app.releases.services.checks import (
    format_findings,
    is_split_outdated,
    leaks_of,
    reliability_of,
    slice_sizes,
    split_sizes,
    told_apart,
    withholds_weighted,
)
from benchmarks_app.releases.services.files import Contents, spool_path, write_contents, write_file
from benchwright.exports.card import card
from benchwright.exports.croissant import croissant_json
from benchwright.findings import Finding, Severity
from benchwright.formats.beir_writing import (
    DocumentLike,
    MetadataShape,
    corpus_jsonl,
    metadata_shape,
)
from benchwright.formats.unlisted import NOT_RELEVANT, unlisted_of
from benchwright.leaks import as_json, as_markdown, findings_of
from benchwright.linting.release_rules import ReleaseFacts, release_findings
from benchwright.releases.canonical import NULL, content_parts, digest_of_parts, without_nulls
from benchwright.releases.changelog import bibtex, changelog
from benchwright.releases.diffing import ReleaseDiff, Side, release_diff
from benchwright.releases.machines import is_machine_judged
from benchwright.releases.options import ReleaseOptions
from benchwright.releases.source import ReleaseSource, public_manifest
from benchwright.releases.versions import (
    Needed,
    Version,
    needed_step,
    next_version,
    step_between,
    written_version,
)

MANIFEST_FORMAT = 2
STEPS = 8


@dataclass(frozen=True)
class Wanted:
    """What is to be released; without a version the next one by what changed."""

    benchmark: Benchmark
    qrel_set: QrelSet
    version: Version | None
    notes: str
    options: ReleaseOptions


@dataclass(frozen=True)
class Built:
    """Everything about a release that is not one yet; its data files are in the job's folder."""

    wanted: Wanted
    contents: Contents
    version: Version
    parent: Release | None
    manifest: dict[str, Any]
    source: ReleaseSource
    needed: Needed | None
    diff: ReleaseDiff | None
    findings: list[Finding]
    leaks: dict[str, Any] | None

    @property
    def step(self) -> str:
        """The step its version takes from its parent; the first release is a major one."""
        if self.parent is None:
            return Release.Step.MAJOR
        return step_between(_version_of(self.parent), self.version) or Release.Step.PATCH

    def diff_json(self) -> dict[str, Any]:
        """The difference as a release keeps it."""
        if self.diff is None or self.parent is None or self.needed is None:
            return {}
        diff = {"parent": self.parent.version, "step": self.needed.step}
        return {**diff, "reasons": list(self.needed.reasons), **self.diff.as_json()}


def newest_published(benchmark: Benchmark) -> Release | None:
    """The release that the next one is compared with."""
    published = Release.objects.published().filter(benchmark=benchmark)
    return published.newest_first().select_related("corpus_version", "benchmark__corpus").first()


def _version_of(release: Release) -> Version:
    return release.major, release.minor, release.patch


def build(job: jobs.RunningJob, wanted: Wanted) -> Built:
    """Write the data files of a release, and say everything that is to be said of it."""
    job.progress(0, STEPS, "writing queries and grades")
    contents = write_contents(
        benchmark=wanted.benchmark,
        qrel_set=wanted.qrel_set,
        options=wanted.options,
        folder=job.folder,
    )
    job.progress(1, STEPS, "reading the corpus")
    corpus = corpus_facts(contents, tell=job)
    parent = newest_published(wanted.benchmark)
    manifest = _manifest(wanted, contents, corpus, parent)
    source = _source(wanted.benchmark, contents, manifest)
    job.progress(2, STEPS, "taking the digest of the content")
    parts = content_parts(source, documents=(corpus or {}).get("content_sha256"))
    manifest |= {"parts": parts, "content_sha256": digest_of_parts(parts)}
    job.progress(3, STEPS, "comparing with the release before")
    diff = _diff(parent, source, contents, manifest)
    needed = needed_step(diff) if diff else None
    version = wanted.version or next_version(
        _version_of(parent) if parent else None, needed.step if needed else "minor"
    )
    manifest |= {"version": written_version(version)}
    source = replace(source, version=manifest["version"])
    job.progress(4, STEPS, "looking for leaks between splits")
    leaks = leaks_of(contents)
    manifest["leaks"] = _said_of_leaks(leaks)
    job.progress(5, STEPS, "checking")
    manifest["reliability"] = reliability_of(contents)
    facts = _facts(wanted, contents, manifest, version, parent, needed)
    findings = [
        *release_findings(facts),
        *leak_findings(leaks),
        *format_findings(source, wanted.options.left_out),
    ]
    return Built(wanted, contents, version, parent, manifest, source, needed, diff, findings, leaks)


def leak_findings(report: dict[str, Any] | None) -> list[Finding]:
    """What the leak report found; nothing without one."""
    return findings_of(report) if report else []


def _said_of_leaks(report: dict[str, Any] | None) -> dict[str, Any] | None:
    if report is None:
        return None
    return {"said": [f"{finding.where}: {finding.message}" for finding in leak_findings(report)]}


# --- what is in it ---------------------------------------------------------------------------


def _manifest(
    wanted: Wanted, contents: Contents, corpus: dict[str, Any] | None, parent: Release | None
) -> dict[str, Any]:
    benchmark = wanted.benchmark
    facts = facts_of(wanted.qrel_set)
    dropped = {
        "drops_all_zero": contents.options.drops_all_zero,
        "n_queries": len(contents.dropped),
    }
    return {
        "format": MANIFEST_FORMAT,
        "benchmark": benchmark.slug,
        "title": benchmark.name,
        "description": contents.options.description or benchmark.description,
        "version": written_version(wanted.version) if wanted.version else "0.0.0",
        "parent": parent.version if parent else None,
        "notes": wanted.notes,
        "licence": contents.options.licence or benchmark.licence,
        "lang": benchmark.corpus.lang,
        "unit": benchmark.unit,
        "tie_rule": benchmark.tie_rule,
        "grades": contents.grades,
        "threshold": contents.threshold,
        "qrels": _qrels_facts(contents, facts),
        "pools": facts.get("pools", []),
        **({"machine_labels": contents.machine_labels} if contents.machine_labels else {}),
        "n_queries": len(contents.queries),
        "n_families": len(set(contents.families.values())),
        "query_metadata_kinds": _kinds(contents.query_shape),
        "splits": {size.name: _split_facts(contents, size) for size in split_sizes(contents)},
        "slices": {name: len(qids) for name, qids in contents.slices.items()},
        "dropped": dropped,
        "formats_left_out": list(contents.options.left_out),
        # Of hidden splits, to who keeps no grades; those of every board where it is empty.
        "measures": list(contents.options.measures),
        "corpus": corpus,
        "files": contents.files,
        "warnings": [],
    }


def _qrels_facts(contents: Contents, facts: dict[str, Any]) -> dict[str, Any]:
    """Where the grades come from, and counts of those that are public."""
    qrel_set = contents.qrel_set
    public = [contents.grades_of(qid) for qid in contents.split_of if contents.is_public(qid)]
    return {
        "name": qrel_set.name,
        "kind": qrel_set.kind,
        "digest": qrel_set.digest,
        "as_of_event": qrel_set.as_of_event,
        "rule": f"{qrel_set.rule} v{qrel_set.rule_version}" if qrel_set.rule else None,
        "derivation": qrel_set.parameters,
        "unlisted": qrel_set.unlisted,
        "agreement": facts.get("agreement"),
        "labels_per_pair": facts.get("labels_per_pair"),
        "n": sum(grades.n for grades in public),
        "n_unjudged": sum(grades.n_unjudged for grades in public),
        "n_relevant": sum(grades.n_relevant for grades in public),
        "n_queries": sum(grades.n > 0 for grades in public),
    }


def _split_facts(contents: Contents, size: Any) -> dict[str, Any]:
    """Counts of a split; of a hidden one nothing that is counted from its grades."""
    facts = {"n_queries": size.n_queries, "is_hidden": size.is_hidden}
    if size.is_hidden:
        return facts
    graded = [contents.grades_of(qid) for qid in contents.of_split(size.name)]
    return {
        **facts,
        "n_graded": size.n_graded,
        "n_judged": sum(grades.n for grades in graded),
        "n_relevant": sum(grades.n_relevant for grades in graded),
    }


def _kinds(shape: MetadataShape) -> dict[str, list[str]]:
    return {key: sorted(values) for key, values in shape.kinds.items()}


def _source(benchmark: Benchmark, contents: Contents, manifest: dict[str, Any]) -> ReleaseSource:
    """The files in the job's folder, with everything in sight."""
    version = contents.corpus_version
    documents = None
    if version is not None and benchmark.corpus.has_texts:
        documents = partial(documents_in_unit, version, benchmark.unit)
    return source_of_files(
        path_of=lambda name: contents.folder / name,
        manifest=manifest,
        title=benchmark.name,
        description=benchmark.description,
        documents=documents,
        see_hidden=True,
    )


# --- the corpus ------------------------------------------------------------------------------


def corpus_facts(
    contents: Contents, *, tell: jobs.RunningJob | None = None
) -> dict[str, Any] | None:
    """What a release says of the corpus it pins; None without one.

    Hashes are taken once of each version of a corpus: the next release finds them in this one.
    """
    benchmark, version = contents.benchmark, contents.corpus_version
    if version is None:
        return None
    passes_on = contents.options.passes_on_texts
    has_texts = benchmark.corpus.has_texts
    return {
        "version": version.number,
        "sha256": version.sha256,
        "n_documents": n_documents_in_unit(version, benchmark.unit),
        "snapshot_date": version.snapshot_date and version.snapshot_date.isoformat(),
        "cut": version.cut,
        "kind": benchmark.corpus.kind,
        "texts": has_texts and passes_on and benchmark.corpus.may_be_passed_on,
        "metadata_kinds": {},
        **(
            _known_hashes(version, benchmark.unit)
            or (_hashes(version, benchmark.unit, tell) if has_texts else {})
        ),
    }


HASHED = ("metadata_kinds", "content_sha256", "jsonl_sha256", "jsonl_bytes")


def _known_hashes(version: CorpusVersion, unit: str) -> dict[str, Any] | None:
    for manifest in version.releases.published().values_list("manifest", flat=True):
        corpus = manifest.get("corpus") or {}
        # A benchmark of the other unit has other documents of the same version.
        if manifest.get("unit") == unit and all(key in corpus for key in HASHED):
            return {key: corpus[key] for key in HASHED}
    return None


def _hashes(version: CorpusVersion, unit: str, tell: jobs.RunningJob | None) -> dict[str, Any]:
    """Of all documents: the types of their metadata, the content digest, and corpus.jsonl's."""
    read = documents_in_unit
    shape = metadata_shape(document.metadata for document in read(version, unit))
    canonical, written, n_bytes = hashlib.sha256(), hashlib.sha256(), 0
    lines = corpus_jsonl(read(version, unit), shape=shape)
    for line in _told(lines, n_documents_in_unit(version, unit), tell):
        written.update(line)
        n_bytes += len(line)
        canonical.update(without_nulls(line) if NULL in line else line)
    return {
        "metadata_kinds": _kinds(shape),
        "content_sha256": canonical.hexdigest(),
        "jsonl_sha256": written.hexdigest(),
        "jsonl_bytes": n_bytes,
    }


def _told(
    lines: Iterator[bytes], total: int, tell: jobs.RunningJob | None, every: int = 20_000
) -> Iterator[bytes]:
    for number, line in enumerate(lines):
        if tell is not None and number % every == 0:
            tell.progress(1, STEPS, f"reading the corpus: {number:,} of {total:,}")
        yield line


# --- since the release before ----------------------------------------------------------------


def _diff(
    parent: Release | None, source: ReleaseSource, contents: Contents, manifest: dict[str, Any]
) -> ReleaseDiff | None:
    if parent is None:
        return None
    before = replace(release_source(parent, see_hidden=True), documents=_documents(parent))
    own = {split: contents.of_split(split) for split in set(contents.split_of.values())}
    return release_diff(
        Side(
            before,
            release_splits(parent),
            parent.manifest.get("parts") or {},
            parent.tie_rule,
            _corpus_sha256(parent.manifest),
        ),
        Side(source, own, manifest["parts"], contents.benchmark.tie_rule, _corpus_sha256(manifest)),
    )


def _documents(release: Release) -> Callable[[], Iterator[DocumentLike]] | None:
    """The documents of a release, whether or not they are passed on with it."""
    version = release.corpus_version
    if version is None or not release.benchmark.corpus.has_texts:
        return None
    return lambda: documents_in_unit(version, release.manifest.get("unit", ""))


def _corpus_sha256(manifest: dict[str, Any]) -> str:
    return (manifest.get("corpus") or {}).get("sha256", "")


# --- what is to be said of it ----------------------------------------------------------------


def _facts(
    wanted: Wanted,
    contents: Contents,
    manifest: dict[str, Any],
    version: Version,
    parent: Release | None,
    needed: Needed | None,
) -> ReleaseFacts:
    """Of queries in hidden splits only counts of sizes: findings are published with the release."""
    public = [qid for qid in contents.split_of if contents.is_public(qid)]
    hidden = [qid for qid in contents.split_of if not contents.is_public(qid)]
    corpus = manifest["corpus"] or {}
    n_drawn = manifest["qrels"]["derivation"].get("n_for_estimates", 0)
    return ReleaseFacts(
        version=version,
        parent=_version_of(parent) if parent else None,
        needed=needed,
        n_relevant=sum(contents.grades_of(qid).n_relevant for qid in contents.split_of),
        splits=split_sizes(contents),
        slices=slice_sizes(contents),
        exposed=[qid for qid in hidden if qid in contents.exposed],
        told_apart=told_apart(contents),
        withholds_weighted=withholds_weighted(contents),
        without_split=contents.without_split,
        is_split_outdated=is_split_outdated(contents.benchmark),
        all_zero=[qid for qid in public if contents.grades_of(qid).is_all_zero],
        no_relevant=[qid for qid in public if _has_none_relevant(contents, qid)],
        unjudged=[qid for qid in public if not contents.grades_of(qid).n],
        n_pairs_unjudged=manifest["qrels"]["n_unjudged"],
        n_dropped=len(contents.dropped),
        threshold=contents.threshold,
        pools=manifest["pools"],
        judged_shares={}
        if unlisted_of(manifest) == NOT_RELEVANT
        else judged_shares(wanted.benchmark, spool_path(contents), public),
        n_graded=manifest["reliability"]["n_queries"],
        detectable=manifest["reliability"]["detectable"],
        is_reach_assumed=bool(manifest["reliability"]["is_assumed"]),
        licence=manifest["licence"],
        description=manifest["description"],
        cut=corpus.get("cut") or {},
        are_texts_withheld=corpus.get("kind") == "texts" and not corpus["texts"],
        is_machine_judged=is_machine_judged(manifest),
        n_grades=manifest["qrels"]["n"],
        n_machine_labels=sum(label_set["n"] for label_set in contents.machine_labels),
        n_drawn=None if n_drawn and hidden else n_drawn,
        words=f"{manifest['description']}\n{wanted.notes}",
    )


def _has_none_relevant(contents: Contents, qid: str) -> bool:
    graded = contents.grades_of(qid)
    return graded.highest > 0 and not graded.n_relevant


# --- the files that tell of the others -------------------------------------------------------


def write_words(built: Built, *, at: datetime) -> dict[str, Any]:
    """Write card, citation, changelog, leak report and metadata; returns the whole manifest."""
    contents = built.contents
    # One thing may be found for several formats: it is said once.
    messages = list(
        dict.fromkeys(
            finding.message for finding in built.findings if finding.severity is not Severity.ERROR
        )
    )
    citation = _citation(built, at)
    manifest = {
        **built.manifest,
        "published_at": at.date().isoformat(),
        "step": built.step,
        "citation": citation,
        "warnings": messages,
    }
    if built.leaks is not None:
        write_file(contents, "leaks.json", [as_json(built.leaks).encode()])
        write_file(contents, "leaks.md", [as_markdown(built.leaks).encode()])
    public = public_manifest(manifest)
    text = card(public, text=manifest["description"], citation=citation)
    write_file(contents, "README.md", [text.encode()])
    write_file(contents, "CITATION.bib", [citation.encode()])
    write_file(contents, "CHANGELOG.md", [_changelog(built, at).encode()])
    source = replace(built.source, manifest=public, citation=citation)
    write_file(contents, "croissant.json", [croissant_json(source, _described_files(manifest))])
    return manifest


def _citation(built: Built, at: datetime) -> str:
    benchmark = built.wanted.benchmark
    owners = benchmark.memberships.filter(role=Role.OWNER).select_related("user").order_by("pk")
    return bibtex(
        slug=benchmark.slug,
        title=benchmark.name,
        version=built.manifest["version"],
        year=at.year,
        authors=[str(owner.user) for owner in owners],
        citation=built.wanted.options.citation or benchmark.citation,
    )


def _changelog(built: Built, at: datetime) -> str:
    before = ""
    if built.parent is not None and "CHANGELOG.md" in built.parent.manifest["files"]:
        path = release_file_path(built.parent, "CHANGELOG.md")
        before = path.read_text("utf-8")
    return changelog(
        version=built.manifest["version"],
        date=at.date().isoformat(),
        notes=built.wanted.notes,
        parent=built.parent.version if built.parent else None,
        reasons=built.needed.reasons if built.needed else (),
        diff=built.diff_json(),
        before=before,
    )


def _described_files(manifest: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The files of the release in BEIR's layout, with the corpus as its export has it."""
    corpus = manifest["corpus"] or {}
    described = {name: of for name, of in public_manifest(manifest)["files"].items() if of}
    if not corpus.get("texts"):
        return described
    facts = {"sha256": corpus["jsonl_sha256"], "n_bytes": corpus["jsonl_bytes"]}
    return {**described, "corpus.jsonl": facts}
