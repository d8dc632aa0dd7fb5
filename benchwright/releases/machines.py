"""What a release says of machines: that one gave its grades, or that its labels lie beside them.

A machine's labels in a people's release are a file of their own, which no reader takes for qrels.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from benchwright.formats.unlisted import MANIFEST

if TYPE_CHECKING:
    from benchwright.files.sources import Source

MACHINE, CLICK = "machine", "click"
TITLES = {MACHINE: "Machine-judged", CLICK: "From clicks"}
SENTENCE = "A machine gave these grades, not people"
LABELS = "machine_labels.tsv"
NOTE = "MACHINE_JUDGED.md"
COLUMNS = ("query-id", "corpus-id", "grade", "judge", "model", "prompt-version")
TELLS_OF_MACHINE = re.compile(r"machine|model|llm|automatic|synthetic|click", re.IGNORECASE)
_BREAKS = re.compile(r"\s+")
HASH_SHOWN = 12


class MachineLabel(NamedTuple):
    """A grade by a machine: by which judge, as which model answered, by which words."""

    query: str
    document: str
    grade: int
    judge: str
    model: str
    prompt: str


def is_machine_judged(manifest: Mapping[str, Any]) -> bool:
    """Whether no person gave the grades of a release but a machine or clicks, by its manifest."""
    return bool(machine_title(manifest))


def machine_title(manifest: Mapping[str, Any]) -> str:
    """What stands above `machine_sentence`; "" where people gave the grades."""
    qrels = manifest.get("qrels")
    return TITLES.get(str(qrels.get("kind")), "") if isinstance(qrels, Mapping) else ""


def machine_sentence(manifest: Mapping[str, Any]) -> str:
    """That a machine or clicks gave the grades, as far as is known; "" where people did.

    Examples
    --------
    >>> derivation = {"judge": "nova", "models": ["nova-1-0"], "prompt_hash": "0123456789abcdef"}
    >>> machine_sentence({"qrels": {"kind": "machine", "derivation": derivation}})
    'A machine gave these grades, not people: nova (nova-1-0), prompt 0123456789ab.'
    >>> machine_sentence({"qrels": {"kind": "human"}})
    ''
    """
    if not is_machine_judged(manifest):
        return ""
    derivation = manifest["qrels"].get("derivation") or {}
    if manifest["qrels"]["kind"] == CLICK:
        pages, model = derivation.get("n_pages"), derivation.get("model")
        of_pages = f": {model} over {pages:,} pages of results" if pages and model else ""
        return f"Clicks gave these grades, not people's judgment{of_pages}."
    if not derivation.get("judge"):
        return f"{SENTENCE}."
    models = ", ".join(derivation.get("models") or ())
    of_models = f" ({models})" if models else ""
    prompt = str(derivation.get("prompt_hash") or "")[:HASH_SHOWN]
    by_prompt = f", prompt {prompt}" if prompt else ""
    return f"{SENTENCE}: {derivation['judge']}{of_models}{by_prompt}."


def labels_sentences(manifest: Mapping[str, Any]) -> list[str]:
    """What a release says of the machine labels beside its grades, a sentence a set.

    Examples
    --------
    >>> labels = {"name": "by nova", "judge": "nova", "models": ["nova-1-0"], "n": 1200}
    >>> labels_sentences({"machine_labels": [labels]})
    ['1,200 labels of a machine (nova: nova-1-0) lie in machine_labels.tsv, apart from the qrels.']
    """
    sentences = []
    for labels in manifest.get("machine_labels") or ():
        models = ", ".join(labels.get("models") or ())
        who = f"{labels.get('judge') or labels['name']}: {models}" if models else labels["name"]
        sentences.append(
            f"{labels['n']:,} labels of a machine ({who}) lie in {LABELS}, apart from the qrels."
        )
    return sentences


def note_of(manifest: Mapping[str, Any]) -> bytes:
    """MACHINE_JUDGED.md: what an export without a card says where no person gave the grades."""
    lines = [f"# {machine_title(manifest)}", "", machine_sentence(manifest), ""]
    lines += ["Scores on these qrels show how systems fare by them, not by people's judgment.", ""]
    return "\n".join(lines).encode()


def label_lines(labels: Iterable[MachineLabel]) -> Iterator[bytes]:
    """machine_labels.tsv: a header and a line a label, in the order given."""
    yield ("\t".join(COLUMNS) + "\n").encode()
    for label in labels:
        words = (_BREAKS.sub(" ", word).strip() for word in label[3:])
        cells = (label.query, label.document, str(label.grade), *words)
        yield ("\t".join(cells) + "\n").encode()


def manifest_kind(source: "Source") -> str:
    """`MACHINE` or `CLICK` where the manifest of an export of ours says so of its grades; or ""."""
    manifest = _manifest_in(source)
    return str(manifest["qrels"]["kind"]) if is_machine_judged(manifest) else ""


def manifest_names_labels(source: "Source") -> bool:
    """Whether the manifest of an export of ours names the machine labels beside its grades."""
    return bool(_manifest_in(source).get("machine_labels"))


def _manifest_in(source: "Source") -> Mapping[str, Any]:
    if MANIFEST not in source.members():
        return {}
    try:
        manifest = json.loads(b"".join(source.lines(MANIFEST)))
    except (ValueError, RecursionError):
        return {}
    return manifest if isinstance(manifest, dict) else {}
