"""The words of translated pages, gathered from the sources and written into the catalogues.

`python -m tests.catalogues` (make messages) brings `benchmarks_app/locale` up to date: new words
stand there untranslated, words that are gone are dropped. It needs no GNU gettext.
"""

import argparse
import io
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import django
from babel.messages import Catalog, Message
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "benchmarks_app" / "locale"
LANGUAGES = ("de", "zh_Hans")
APPS = ("benchmarks_app", "annotation", "scoring")
# The functions whose first words are translated, and which of their arguments.
KEYWORDS = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
}
NOTE = "# Translations of Benchwright. How to work on them: docs/translating.md."

Words = str | tuple[str, str]


def catalogue_file(language: str, ending: str = "po") -> Path:
    return FOLDER / language / "LC_MESSAGES" / f"django.{ending}"


def sources() -> Iterator[Path]:
    yield from sorted((ROOT / "templates").rglob("*.*"))
    for app in APPS:
        for path in sorted((ROOT / app).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path
        yield from sorted((ROOT / app / "static").rglob("*.js"))


def words_in(path: Path) -> Iterator[tuple[Words, str | None]]:
    """What a source says that is translated, with its context."""
    if path.suffix == ".js":
        from benchmarks_app.templatetags.words import said_by

        one, several = said_by(str(path.relative_to(path.parents[1])))
        yield from ((text, None) for text in (*one, *several))
        return
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        from django.utils.translation.template import templatize

        # Of a template, calls are left: lines of Python that are nowhere indented.
        text = "\n".join(map(str.strip, templatize(text, origin=str(path)).splitlines()))
    for _, said, _, context in extract("python", io.BytesIO(text.encode()), keywords=KEYWORDS):
        yield said, context


def declared() -> Iterator[tuple[str, str]]:
    """What stands in modules that know no Django, with the name of the module."""
    from tests.declared_words import declared_words

    yield from declared_words()


def gathered() -> Catalog:
    """Every message of the sources."""
    catalog = Catalog(charset="utf-8")
    for path in sources():
        place = str(path.relative_to(ROOT))
        for said, context in words_in(path):
            catalog.add(said, locations=[(place, None)], context=context, flags=flags_of(said))
    for said, place in declared():
        catalog.add(said, locations=[(place, None)], flags=flags_of(said))
    return catalog


def flags_of(said: Words) -> list[str]:
    first = said if isinstance(said, str) else said[0]
    return ["python-format"] if "%(" in first else []


def read(language: str) -> Catalog:
    path = catalogue_file(language)
    if not path.exists():
        return Catalog(locale=language, charset="utf-8")
    with path.open("rb") as file:
        return read_po(file, locale=language)


def renewed(language: str, sources: Catalog) -> Catalog:
    """The catalogue of a language with the messages that the sources have now, and no others."""
    known = read(language)
    catalog = Catalog(
        locale=language,
        project="Benchwright",
        charset="utf-8",
        header_comment=NOTE,
        fuzzy=False,
        language_team="",
        last_translator="",
        creation_date=known.creation_date,
        revision_date=known.creation_date,
    )
    for message in sorted(sources, key=order):
        if not message.id:
            continue
        old = known.get(message.id, message.context)
        n = catalog.num_plurals
        empty: str | tuple[str, ...] = ("",) * n if message.pluralizable else ""
        string = old.string if old and bool(old.pluralizable) == message.pluralizable else empty
        catalog.add(
            message.id,
            string,
            locations=message.locations,
            flags=message.flags,
            context=message.context,
        )
    return catalog


def order(message: Message) -> tuple[str, str]:
    place = message.locations[0][0] if message.locations else ""
    return place, message.id if isinstance(message.id, str) else message.id[0]


def as_po(catalog: Catalog) -> bytes:
    out = io.BytesIO()
    write_po(out, catalog, width=100, include_lineno=False, sort_output=False)
    return out.getvalue()


def as_mo(catalog: Catalog) -> bytes:
    out = io.BytesIO()
    write_mo(out, catalog)
    return out.getvalue()


def untranslated(catalog: Catalog) -> list[Message]:
    def is_lacking(message: Message) -> bool:
        strings = message.string if message.pluralizable else (message.string,)
        return bool(message.id) and (not all(strings) or message.fuzzy)

    return [message for message in catalog if is_lacking(message)]


def main(arguments: Iterable[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.parse_args(list(arguments))
    django.setup()
    sources = gathered()
    n_lacking = 0
    for language in LANGUAGES:
        catalog = renewed(language, sources)
        path = catalogue_file(language)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(as_po(catalog))
        catalogue_file(language, "mo").write_bytes(as_mo(catalog))
        lacking = untranslated(catalog)
        n_lacking += len(lacking)
        print(f"{path.relative_to(ROOT)}: {len(catalog)} messages, {len(lacking)} to translate")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
