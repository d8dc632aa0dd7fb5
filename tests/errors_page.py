"""The chapter of errors: every code that an answer can name, gathered from the classes.

`python -m tests.errors_page` (make openapi) writes docs/errors.md anew; `type` of an error leads
to its heading there.
"""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import benchwright
from benchwright.errors import BenchmarkError

PAGE = Path(__file__).parent.parent / "docs" / "errors.md"
APPS = ("benchmarks_app", "annotation", "scoring")
HEAD = """# Errors

Every error has a code that stays and a status that goes with it; [the API](api.md#errors) names it
in `code`, and its `type` leads to its heading here. Sentences may be reworded; `{…}` stands for
what they name. `make openapi` writes this page.
"""
# What Django and the framework of the API answer, and what has no class of its own.
OTHERS = {
    "bad-request": (400, "The request is not one that can be read."),
    "csrf": (403, "A session without its CSRF token."),
    "forbidden": (403, "Your role in this benchmark does not allow this."),
    "invalid": (400, "What was sent is not what is expected; `errors` says of each field what."),
    "labels-refused": (422, "Labels that cannot be taken; `facts.items` names each of them."),
    "method-not-allowed": (405, "Another method than those the address has."),
    "not-acceptable": (406, "It is not given in the form that `Accept` asks for."),
    "not-authenticated": (401, "No token, or no session."),
    "not-found": (404, "There is no such thing here, or it is not for you to see."),
    "not-json": (400, "The body is not JSON, or nested more than 64 levels deep."),
    "range": (416, "The file has none of the bytes that `Range` asks for."),
    "throttled": (429, "Too many requests in a minute; `Retry-After` says how long to wait."),
    "token-invalid": (401, "A token that is unknown, revoked or expired."),
    "unexpected": (500, "A fault of the site, whose log has the details."),
    "unsupported-media-type": (415, "A body of another content type than those that are read."),
}


def kinds() -> dict[str, tuple[int, str]]:
    """Status and sentence of every error by its code; of several with one code the first by name.

    A class without a code of its own is an answer by the code of the class above it.
    """
    result = dict(OTHERS)
    for kind in sorted(_below(BenchmarkError), key=lambda kind: kind.__name__):
        if kind.__module__.startswith(("benchwright.", *APPS)) and "tests" not in kind.__module__:
            result.setdefault(kind.code, (kind.status, kind.message))
    return dict(sorted(result.items()))


def _below(kind: type[BenchmarkError]) -> Iterator[type[BenchmarkError]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from _below(subclass)


def load() -> None:
    """Import every module that draws errors."""
    for package in (benchwright, *map(importlib.import_module, APPS)):
        folder = Path(package.__path__[0])
        for path in sorted(folder.rglob("*.py")):
            if re.search(r"^class \w+Error\(", path.read_text("utf-8"), re.MULTILINE):
                parts = path.relative_to(folder.parent).with_suffix("").parts
                importlib.import_module(".".join(parts).removesuffix(".__init__"))


def written() -> str:
    """The page."""
    load()
    parts = [
        f"### {code}\n{status}. {_plain(message)}\n" for code, (status, message) in kinds().items()
    ]
    return "\n".join([HEAD, *parts])


def _plain(message: str) -> str:
    """A sentence as Markdown shows it as it stands; fields that are formatted lose their form."""
    message = re.sub(r"\{(\w+)[^}]*\}", r"`{\1}`", message.replace("`", ""))
    return re.sub(r"([*_<])(?![^`]*`)", r"\\\1", " ".join(message.split()))


if __name__ == "__main__":
    import django

    django.setup()
    PAGE.write_text(written(), "utf-8")
