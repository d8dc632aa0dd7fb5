"""The Hub layout, and beside it the task that MTEB runs on it."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benchwright.exports import hub
from benchwright.exports.exporter import Exporter, Member, Snippet
from benchwright.releases.source import ReleaseSource

TASK = "task.py"
# ISO 639-1 to 639-3 with the script MTEB names them by; others are left for the owner to fill in.
LANGUAGES = {
    "ar": "ara-Arab",
    "bn": "ben-Beng",
    "cs": "ces-Latn",
    "da": "dan-Latn",
    "de": "deu-Latn",
    "el": "ell-Grek",
    "en": "eng-Latn",
    "es": "spa-Latn",
    "fa": "fas-Arab",
    "fi": "fin-Latn",
    "fr": "fra-Latn",
    "he": "heb-Hebr",
    "hi": "hin-Deva",
    "hu": "hun-Latn",
    "id": "ind-Latn",
    "it": "ita-Latn",
    "ja": "jpn-Jpan",
    "ko": "kor-Hang",
    "nl": "nld-Latn",
    "no": "nob-Latn",
    "pl": "pol-Latn",
    "pt": "por-Latn",
    "ro": "ron-Latn",
    "ru": "rus-Cyrl",
    "sv": "swe-Latn",
    "sw": "swa-Latn",
    "te": "tel-Telu",
    "th": "tha-Thai",
    "tr": "tur-Latn",
    "uk": "ukr-Cyrl",
    "vi": "vie-Latn",
    "yo": "yor-Latn",
    "zh": "zho-Hans",
}
DEFAULT_LANGUAGE = "eng-Latn"
# Of the licences that a repository can name, those on MTEB's own list.
LICENCES = hub.LICENCES - {"bsd-2-clause", "odbl", "pddl", "unlicense"}


def members(source: ReleaseSource, work: Path) -> Iterator[Member]:
    """Yield the files of the Hub layout and `task.py`, whose task is one of texts."""
    yield from hub.members(replace(source, images=None), work)
    yield TASK, [task(source).encode()]


def task(source: ReleaseSource) -> str:
    """Return a module with a task that reads the repository; by default the folder it lies in."""
    splits = list(source.splits) or ["test"]
    evaluated = ["test"] if "test" in splits else splits[:1]
    return _TASK.format(
        class_name=task_name(source.slug),
        version=source.version,
        name=task_name(source.slug),
        description=repr(" ".join((source.description or source.title or source.slug).split())),
        eval_splits=_listed(evaluated),
        eval_langs=_listed([language(source.lang)]),
        license=repr(licence(source.licence)),
        citation=repr(source.citation.strip() or None),
    )


def task_name(slug: str) -> str:
    """Return a class name made of a slug.

    >>> task_name("stdlib-2-docs")
    'Stdlib2DocsRetrieval'
    """
    words = "".join(word.capitalize() for word in re.split(r"[^0-9A-Za-z]+", slug) if word)
    return f"{'B' if words[:1].isdigit() else ''}{words or 'Benchmark'}Retrieval"


def language(lang: str) -> str:
    """Return MTEB's name of a language.

    >>> language("de-CH"), language("")
    ('deu-Latn', 'eng-Latn')
    """
    return LANGUAGES.get(lang.lower().partition("-")[0], DEFAULT_LANGUAGE)


def licence(text: str) -> str | None:
    """Return a licence as MTEB's list has it, or None: the owner says it by a link then.

    >>> licence("CC-BY-4.0"), licence("our own terms")
    ('cc-by-4.0', None)
    """
    slug = text.strip().lower().replace(" ", "-")
    return slug if slug in LICENCES else None


def _listed(names: list[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


_TASK = '''"""{name} {version} for MTEB: mteb.evaluate(model, {class_name}())."""

from pathlib import Path

from mteb.abstasks.retrieval import AbsTaskRetrieval
from mteb.abstasks.task_metadata import TaskMetadata

# Once it is uploaded: the repository's name, and the commit as revision.
PATH = str(Path(__file__).resolve().parent)
REVISION = "{version}"


class {class_name}(AbsTaskRetrieval):
    metadata = TaskMetadata(
        name="{name}",
        description={description},
        reference=None,
        dataset={{"path": PATH, "revision": REVISION}},
        type="Retrieval",
        category="t2t",
        modalities=["text"],
        eval_splits={eval_splits},
        eval_langs={eval_langs},
        main_score="ndcg_at_10",
        date=None,  # ("YYYY-MM-DD", "YYYY-MM-DD"): when the texts were written
        domains=None,
        task_subtypes=None,
        license={license},
        annotations_creators="human-annotated",
        dialect=None,
        sample_creation=None,
        bibtex_citation={citation},
    )
'''

MTEB = Exporter(
    name="mteb",
    label="MTEB",
    about="The Hub layout, and task.py with the task's metadata, ready to run or to contribute.",
    needs_texts=True,
    loses=(),
    members=members,
    snippets=(
        Snippet(
            "mteb",
            "import sys\n\n"
            "import mteb\n\n"
            'sys.path.insert(0, "{folder}")\n'
            "from task import {task}\n\n"
            'model = mteb.get_model("…")\n'
            "mteb.evaluate(model, {task}())",
        ),
    ),
    suffix="-mteb",
    is_streamed=False,
)
