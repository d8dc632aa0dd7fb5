"""The dataset card of a release: README.md with a head that dataset hubs read."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchwright.corpora.cuts import cut_sentence
from benchwright.exports.hub import LICENCES
from benchwright.formats.unlisted import unlisted_of, unlisted_sentence
from benchwright.releases.changelog import in_cell
from benchwright.releases.machines import labels_sentences, machine_sentence
from benchwright.statistics.reliability import reach_in_words
from benchwright.texts.markdown import table_lines

SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
    (100_000_000, "10M<n<100M"),
)
LARGEST = "100M<n<1B"
ANNOTATORS = {"human": "expert-generated", "machine": "machine-generated", "annotator": "other"}


def card(facts: Mapping[str, Any], *, text: str, citation: str) -> str:
    """README.md.

    Parameters
    ----------
    facts
        A release's manifest.
    text
        What the owner wrote: a description, in Markdown.
    citation
        BibTeX.
    """
    import yaml

    head = yaml.safe_dump(card_head(facts), sort_keys=False, allow_unicode=True, width=100)
    return f"---\n{head}---\n\n" + "\n\n".join(_body(facts, text, citation)) + "\n"


def card_head(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The head of the card, in the keys of dataset hubs."""
    n_documents = (facts.get("corpus") or {}).get("n_documents")
    lang = (facts.get("lang") or "").partition("-")[0]
    return {
        "pretty_name": facts["title"],
        "version": facts["version"],
        **_licence(facts.get("licence", "")),
        **({"language": [lang], "multilinguality": ["monolingual"]} if lang else {}),
        "task_categories": ["text-retrieval"],
        "task_ids": ["document-retrieval"],
        "annotations_creators": [ANNOTATORS.get(facts["qrels"]["kind"], "found")],
        **({"size_categories": [size_category(n_documents)]} if n_documents else {}),
        "tags": ["information-retrieval", "benchmark", "benchwright"],
    }


def size_category(n: int) -> str:
    """The size class of a number of documents, as hubs call it.

    >>> size_category(999), size_category(1000)
    ('n<1K', '1K<n<10K')
    """
    return next((name for below, name in SIZES if n < below), LARGEST)


def _licence(licence: str) -> dict[str, str]:
    """
    >>> _licence("CC BY 4.0")
    {'license': 'cc-by-4.0'}
    """
    if not licence.strip():
        return {"license": "unknown"}
    slug = "-".join(licence.lower().split())
    if slug in LICENCES:
        return {"license": slug}
    return {"license": "other", "license_name": licence.strip()}


def _body(facts: Mapping[str, Any], text: str, citation: str) -> Iterator[str]:
    yield f"# {facts['title']} {facts['version']}"
    if text.strip():
        yield text.strip()
    yield _counts(facts)
    yield from _splits(facts)
    yield from _grades(facts)
    yield from _slices(facts)
    yield from _leaks(facts.get("leaks"))
    yield from _reliability(facts)
    yield from _limits(facts)
    yield f"## Licence\n\n{facts.get('licence') or 'None was given.'}"
    yield f"## Citation\n\n```bibtex\n{citation.strip()}\n```"


def _counts(facts: Mapping[str, Any]) -> str:
    corpus = facts.get("corpus")
    rows = [
        ("Queries", f"{facts['n_queries']:,} in {facts['n_families']:,} families"),
        ("Judged pairs", f"{facts['qrels']['n']:,}, {facts['qrels']['n_relevant']:,} relevant"),
        ("Unit", facts["unit"]),
        ("Equal scores", f"rule '{facts['tie_rule']}'"),
    ]
    if corpus:
        snapshot = f", as of {corpus['snapshot_date']}" if corpus.get("snapshot_date") else ""
        rows.insert(0, ("Documents", f"{corpus['n_documents']:,}{snapshot}"))
        if corpus.get("cut"):
            rows.insert(1, ("Corpus", cut_sentence(corpus["cut"])))
    return _table(("What", "How much"), rows)


def _splits(facts: Mapping[str, Any]) -> Iterator[str]:
    rows = [
        (
            name,
            f"{split['n_queries']:,}",
            "withheld" if split["is_hidden"] else f"{split['n_graded']:,}",
            "withheld" if split["is_hidden"] else f"{split['n_relevant']:,}",
        )
        for name, split in facts["splits"].items()
    ]
    yield "## Splits\n\n" + _table(("split", "queries", "graded", "relevant pairs"), rows)
    hidden = [name for name, split in facts["splits"].items() if split["is_hidden"]]
    if hidden:
        yield (
            f"Hidden: {', '.join(hidden)}. Its queries are published, its grades and judged "
            "documents are not: send in a run to have it scored. The counts above are of the "
            "public splits."
        )


def _grades(facts: Mapping[str, Any]) -> Iterator[str]:
    rows = [
        (str(grade["value"]), in_cell(grade["name"]), "yes" if grade["is_relevant"] else "no")
        for grade in facts["grades"]
    ]
    qrels = facts["qrels"]
    parts = ["## Grades", _table(("grade", "meaning", "relevant"), rows)]
    parts.append(f"Relevant from {facts['threshold']} on.")
    how = f"Grades: '{in_cell(qrels['name'])}' ({qrels['kind']})"
    parts.append(f"{how}, by the rule {qrels['rule']}." if qrels.get("rule") else f"{how}.")
    if sentence := machine_sentence(facts):
        parts.append(f"**{sentence}**")
    parts += labels_sentences(facts)
    agreement = qrels.get("agreement")
    if agreement:
        parts.append(_agreement(agreement))
    parts += [_pool(pool) for pool in facts.get("pools", ())]
    yield "\n\n".join(parts)


def _agreement(agreement: Mapping[str, Any]) -> str:
    labels = (
        f"{agreement['n_labels']:,} labels of {agreement['n_annotators']:,} "
        f"annotator{'' if agreement['n_annotators'] == 1 else 's'}; "
        f"{agreement['n_doubled']:,} pairs have more than one."
    )
    if agreement.get("alpha") is None:
        return f"{labels} That is too few to measure agreement."
    interval = (
        f" [{agreement['low']:.2f}, {agreement['high']:.2f}]"
        if agreement.get("low") is not None
        else ""
    )
    return f"{labels} Krippendorff's alpha (ordinal) {agreement['alpha']:.2f}{interval}."


def _pool(pool: Mapping[str, Any]) -> str:
    named = ", ".join(map(in_cell, pool["systems"]))
    rest = pool["n_systems"] - len(pool["systems"])
    others = f"{' and ' if named else ''}{rest} that {'is' if rest == 1 else 'are'} not named"
    who = named + (others if rest else "")
    return (
        f"Pool '{in_cell(pool['name'])}' ({pool['strategy']}): {pool['n_documents']:,} documents "
        f"of {pool['n_systems']} systems{f' ({who})' if who else ''}."
    )


def _slices(facts: Mapping[str, Any]) -> Iterator[str]:
    rows = [(in_cell(name), f"{n:,}") for name, n in facts.get("slices", {}).items()]
    if rows:
        yield "## Slices\n\n" + _table(("slice", "queries"), rows)


def _leaks(leaks: Mapping[str, Any] | None) -> Iterator[str]:
    if not leaks:
        return
    sentences = leaks.get("said") or ["Nothing leaks from one split into another."]
    lines = "\n".join(f"- {in_cell(sentence)}" for sentence in sentences)
    yield f"## Leaks\n\n{lines}\n\nThe whole report is in leaks.md and leaks.json."


def _reliability(facts: Mapping[str, Any]) -> Iterator[str]:
    reliability = facts.get("reliability")
    if not reliability:
        return
    parts = [f"{reliability['n_queries']:,} graded queries: {reliability['tier']}."]
    parts.append(
        reach_in_words(
            reliability.get("detectable"), is_assumed=bool(reliability.get("is_assumed"))
        )
    )
    yield f"## Reliability\n\n{' '.join(filter(None, parts))}"


def _limits(facts: Mapping[str, Any]) -> Iterator[str]:
    sentences = [unlisted_sentence(unlisted_of(facts)), *facts["warnings"]]
    lines = "\n".join(f"- {in_cell(sentence)}" for sentence in sentences)
    yield f"## Limits\n\n{lines}"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(table_lines(columns, rows))
