"""The demo's corpus: the docstrings of Python's own standard library, read from its source.

Nothing is imported and nothing fetched: source files are parsed. A private file whose names are
public elsewhere is read under the public name, so that a docid is what a developer would import and
stays the same when a Python version moves the code.
"""

import ast
import sys
import sysconfig
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchwright.errors import MissingFileError

# Shorter ones say next to nothing ("Undocumented.").
MIN_CHARACTERS = 20

# Tests, editors, data, and what needs a screen, which many installations leave out.
SKIPPED_NAMES = frozenset(
    [
        "__pycache__",
        "encodings",
        "ensurepip",
        "idlelib",
        "lib2to3",
        "pydoc_data",
        "test",
        "tests",
        "tkinter",
        "turtle",
        "turtledemo",
    ]
)
# Gone in a Python we support, so that the corpus is nearly the same on all of them.
REMOVED_MODULES = frozenset(
    [
        "aifc",
        "asynchat",
        "asyncore",
        "cgi",
        "cgitb",
        "chunk",
        "crypt",
        "distutils",
        "imghdr",
        "imp",
        "mailcap",
        "msilib",
        "nntplib",
        "pipes",
        "smtpd",
        "sndhdr",
        "sunau",
        "telnetlib",
        "uu",
        "xdrlib",
    ]
)
# Private files that hold what a public module gives away; no other private file is read.
PUBLIC_NAMES = {
    "_collections_abc": "collections.abc",
    "_pydatetime": "datetime",
    "_pydecimal": "decimal",
    "_pyio": "io",
    "concurrent/futures/_base": "concurrent.futures",
    "email/_parseaddr": "email.utils",
    "email/_policybase": "email.policy",
    "importlib/_abc": "importlib.abc",
    "importlib/_bootstrap": "importlib.machinery",
    "importlib/_bootstrap_external": "importlib.machinery",
    "importlib/resources/_common": "importlib.resources",
    "importlib/resources/_functional": "importlib.resources",
    "importlib/resources/_legacy": "importlib.resources",
    "pathlib/_local": "pathlib",
    "tomllib/_parser": "tomllib",
    "xml/sax/_exceptions": "xml.sax",
    "zipfile/_path": "zipfile",
    "zoneinfo/_zoneinfo": "zoneinfo",
}

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class DemoDocument:
    """One docstring; `docid` is the dotted name of what it describes."""

    docid: str
    title: str
    text: str


def collect_docstrings(root: Path | None = None) -> list[DemoDocument]:
    """Every public module, class, function and method with a docstring, sorted by docid.

    Parameters
    ----------
    root
        The folder of the standard library; this interpreter's own where None.

    Raises
    ------
    MissingFileError
        If the folder holds no source to read, as in an interpreter stripped to byte code.
    """
    folder = root or Path(sysconfig.get_path("stdlib"))
    documents: dict[str, DemoDocument] = {}
    for path, module in _source_files(folder):
        for document in _documents_of(path, module):
            documents.setdefault(document.docid, document)
    if not documents:
        raise MissingFileError(
            place=str(folder),
            expected="Python source with docstrings",
            advice="Use a Python whose standard library comes with its .py files.",
        )
    return [documents[docid] for docid in sorted(documents)]


def _source_files(folder: Path) -> Iterator[tuple[Path, str]]:
    """Each source worth reading and its public name; private files last, whose names may repeat."""
    paths = [path for top in folder.iterdir() for path in _sources_under(top)]
    for path in sorted(paths, key=lambda path: (_is_private(path.stem), path.as_posix())):
        module = _public_name(path.relative_to(folder))
        if module:
            yield path, module


def _sources_under(top: Path) -> Iterator[Path]:
    if top.stem not in sys.stdlib_module_names | PUBLIC_NAMES.keys():
        return  # put there by the distribution or the user
    if top.is_dir():
        yield from top.rglob("*.py")
    elif top.suffix == ".py":
        yield top


def _public_name(relative: Path) -> str:
    """The dotted name under which a source file is read; empty where it is left out.

    >>> _public_name(Path("concurrent/futures/_base.py"))
    'concurrent.futures'
    >>> _public_name(Path("email/test/data.py"))
    ''
    """
    parts = relative.with_suffix("").parts
    if parts[-1] == "__init__":
        parts = parts[:-1]
    if not SKIPPED_NAMES.isdisjoint(parts) or parts[0] in REMOVED_MODULES:
        return ""
    if any(map(_is_private, parts)):
        return PUBLIC_NAMES.get("/".join(parts), "")
    return ".".join(parts)


def _documents_of(path: Path, module: str) -> Iterator[DemoDocument]:
    with warnings.catch_warnings():
        # An invalid escape in somebody else's source is nothing the reader can mend.
        warnings.simplefilter("ignore")
        tree = ast.parse(path.read_bytes(), filename=str(path))
    text = _docstring(tree)
    if text:
        yield DemoDocument(module, f"module {module}", text)
    yield from _documents_in(tree.body, module)


def _documents_in(body: Iterable[ast.stmt], prefix: str) -> Iterator[DemoDocument]:
    for node in _public_definitions(body):
        docid = f"{prefix}.{node.name}"
        text = _docstring(node)
        if text:
            yield DemoDocument(docid, _title(node, docid), text)
        if isinstance(node, ast.ClassDef):
            yield from _documents_in(node.body, docid)


def _docstring(node: ast.Module | Definition) -> str:
    """The docstring without its indentation; empty where there is none worth a document."""
    text = (ast.get_docstring(node) or "").strip()
    return text if len(text) >= MIN_CHARACTERS else ""


def _public_definitions(body: Iterable[ast.stmt]) -> Iterator[Definition]:
    """Definitions of a body, also those under its `if` and `try`, in the order of the source."""
    for node in body:
        if isinstance(node, Definition) and not _is_private(node.name):
            yield node
        elif isinstance(node, ast.If):
            yield from _public_definitions([*node.body, *node.orelse])
        elif isinstance(node, ast.Try):
            handlers = [statement for handler in node.handlers for statement in handler.body]
            yield from _public_definitions([*node.body, *handlers, *node.orelse, *node.finalbody])


def _is_private(name: str) -> bool:
    """Whether a name is left out: it begins with an underscore and is not `__init__`."""
    return name.startswith("_") and name != "__init__"


def _title(node: Definition, docid: str) -> str:
    """`class a.B` or `a.B.method(first, *rest, **options)`, without `self` and without defaults."""
    if isinstance(node, ast.ClassDef):
        return f"class {docid}"
    return f"{docid}({', '.join(_parameters(node.args))})"


_IMPLIED = frozenset({"self", "cls"})


def _parameters(arguments: ast.arguments) -> Iterator[str]:
    yield from (a.arg for a in arguments.posonlyargs + arguments.args if a.arg not in _IMPLIED)
    if arguments.vararg:
        yield f"*{arguments.vararg.arg}"
    yield from (a.arg for a in arguments.kwonlyargs)
    if arguments.kwarg:
        yield f"**{arguments.kwarg.arg}"
