"""The rules of the house that no reader should have to keep in mind."""

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command, get_commands, load_command_class
from django.db import connection
from django.template import Template
from django.urls.resolvers import URLPattern, URLResolver, get_resolver

from benchmarks_app.management.declared import DeclaredCommand
from benchmarks_app.triggers import TRIGGERS, lift_triggers
from benchwright.ids import LONGEST_NAME

ROOT = Path(__file__).resolve().parent.parent
APPS = ("benchmarks_app", "annotation", "scoring")
LIBRARY = "benchwright"
LONGEST_FUNCTION = 60
MOST_MODULES = 15


def sources(*apps: str) -> list[Path]:
    """Our own modules, without generated migrations."""
    results = [path for app in apps or (LIBRARY, *APPS) for path in (ROOT / app).rglob("*.py")]
    return sorted(path for path in results if "migrations" not in path.parts)


def templates() -> list[Path]:
    return sorted(path for path in (ROOT / "templates").rglob("*") if path.is_file())


def python(code: str) -> str:
    """What the code prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def rows_of_chapter(*heads: str) -> dict[str, set[str]]:
    """The names in the rows of docs/architecture.md that begin with these cells."""
    lines = (ROOT / "docs/architecture.md").read_text().splitlines()
    cells = {head: next(line for line in lines if line.startswith(f"| {head} |")) for head in heads}
    return {head: set(re.findall(r"`(\w+)`", line.split("|")[2])) for head, line in cells.items()}


def test_the_chapter_has_every_floor_and_every_feature():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    floors = next(
        of["layers"] for of in contracts["contracts"] if of["name"].endswith("point down")
    )
    numbers = [str(number) for number in range(len(floors), 0, -1)]

    rooms = rows_of_chapter(*numbers)
    features = rows_of_chapter(*(f"`{app}`" for app in APPS))

    assert [rooms[number] for number in numbers] == [set(of.split(" | ")) for of in floors]
    for app in APPS:
        folders = {path.parent for path in (ROOT / app).glob("*/urls*") if path.suffix != ".pyc"}
        assert {path.name for path in folders} - {"urls", "__pycache__"} <= features[f"`{app}`"]


# --- what depends on what ------------------------------------------------------------------------


def test_foreign_keys_point_down():
    rank = {"benchmarks_app": 0, "annotation": 1, "scoring": 1}
    ours = {m: rank[m._meta.app_label] for m in apps.get_models() if m._meta.app_label in rank}
    relations = [(m, f) for m in ours for f in m._meta.get_fields() if f.is_relation]

    assert {m._meta.app_label for m, _ in relations} == set(APPS)
    assert [
        str(field)
        for model, field in relations
        if not field.auto_created
        and field.related_model in ours
        and field.related_model._meta.app_label != model._meta.app_label
        and ours[model] <= ours[field.related_model]
    ] == []


@pytest.mark.parametrize("path", [ROOT / app / "__init__.py" for app in APPS], ids=APPS)
def test_app_init_is_empty(path):
    assert path.read_bytes() == b""


# A backup that is under way may name a file: `files.remove` leaves it until that has ended.
# What the doctor has just written to try the storage, no row names.
MAY_DELETE = {
    "benchmarks_app/files.py",
    "benchmarks_app/backups/services/restoring.py",
    "benchmarks_app/operating/doctor.py",
}


def test_stored_files_are_removed_past_no_backup():
    deleting = [path for path in sources() if "file_store().delete(" in path.read_text()]

    assert {str(path.relative_to(ROOT)) for path in deleting} == MAY_DELETE


def test_store_of_files_has_one_owner():
    asking = [
        path for path in sources() if re.search(r"default_storage|storages\[", path.read_text())
    ]

    assert {path.parent.name for path in asking} == {"store"}


def test_room_of_the_library_is_seen_at_a_glance():
    modules = Counter(path.parent for path in sources(LIBRARY) if path.stem != "__init__")

    assert {str(room.relative_to(ROOT)): n for room, n in modules.items() if n > MOST_MODULES} == {}


def test_no_module_is_called_utils():
    assert [path for path in sources() if path.stem in ("utils", "util", "helpers")] == []


def imports(modules: list[str], unwanted: list[str], before: str = "") -> str:
    """Which of the unwanted packages are loaded after these modules are, in a new process."""
    return python(
        f"import sys, importlib\n{before}\n"
        f"for name in {modules!r}: importlib.import_module(name)\n"
        f"print(*sorted({set(unwanted)!r} & set(sys.modules)))"
    )


def modules_under(*packages: str) -> list[str]:
    paths = [path for package in packages for path in (ROOT / package.replace(".", "/")).rglob("*")]
    names = [
        ".".join(p.relative_to(ROOT).with_suffix("").parts) for p in paths if p.suffix == ".py"
    ]
    return sorted(name.removesuffix(".__init__") for name in names)


def test_library_imports_no_django():
    assert imports(modules_under(LIBRARY), ["django", "celery"]) == ""


def test_numeric_core_starts_without_numpy():
    measuring = ["benchwright", *modules_under("benchwright/measures", "benchwright/reading")]

    assert (
        imports([*measuring, "benchwright.evaluation.evaluating"], ["numpy", "scipy", "polars"])
        == ""
    )


SETUP = "import os; os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'benchmarks_app.settings')\n"
SETUP += "import django; django.setup()"


def test_no_polars_at_import():
    """A forked worker would inherit its threads' locks, and hang."""
    everything = [
        name
        for name in modules_under(*APPS)
        if re.match(
            r"\w+\.(\w+\.)?(tasks|celery|urls|wsgi|services|views|selectors|management)\b", name
        )
    ]

    assert len(everything) > 40
    assert imports(everything, ["polars"], before=SETUP) == ""


def test_process_of_a_site_starts_without_arrays():
    """Commands, the sweeper and what waits load them when somebody asks for a number."""
    assert imports([], ["numpy", "scipy", "polars"], before=SETUP) == ""


def test_site_and_workers_start_without_what_few_requests_need():
    """Parts of scipy take as long to load as Django, and are there when they are first used."""
    parts = [f"scipy.{name}" for name in ("cluster", "spatial", "special", "stats")]
    started = ["benchmarks_app.urls", *(f"{app}.tasks" for app in APPS)]

    assert imports(started, [*parts, "cryptography", "fido2", "qrcode"], before=SETUP) == ""


def test_import_of_what_is_unwanted_would_be_seen():
    assert imports(["json", "decimal"], ["decimal", "polars"]) == "decimal"


# --- the database --------------------------------------------------------------------------------


@pytest.mark.django_db
def test_migrations_are_complete():
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def triggers_there() -> set[str]:
    listed = {
        "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
        "postgresql": "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal",
    }
    with connection.cursor() as cursor:
        cursor.execute(listed[connection.vendor])
        return {name for (name,) in cursor.fetchall()}


WANTED_TRIGGERS = {trigger.name for of_app in TRIGGERS.values() for trigger in of_app}


@pytest.mark.django_db
def test_triggers_are_there_after_all_migrations():
    assert triggers_there() == WANTED_TRIGGERS


@pytest.mark.django_db(transaction=True)
def test_triggers_are_back_after_a_flush():
    lift_triggers()
    assert triggers_there() == set()

    call_command("flush", interactive=False, verbosity=0)

    assert triggers_there() == WANTED_TRIGGERS


# --- templates -----------------------------------------------------------------------------------

INLINE = re.compile(
    r"""<style|\sstyle\s*=|\son[a-z]+\s*=\s*["']|javascript:|hx-on|hx-vals\s*=\s*["']js:"""
    r"""|<script(?![^>]*\ssrc=)(?![^>]*type="application/json")""",
    re.IGNORECASE,
)


def test_templates_have_no_inline_style_or_script():
    results = {str(path): INLINE.findall(path.read_text("utf-8")) for path in templates()}

    assert {path: what for path, what in results.items() if what} == {}


def test_a_question_before_an_action_has_a_button_that_names_it():
    def without_tags(path: Path) -> str:
        return re.sub(r"{%.*?%}|{{.*?}}", "", path.read_text("utf-8"))

    unnamed = r'data-confirm="[^"]*"(?! data-confirm-ok=)'

    assert [str(path) for path in templates() if re.search(unnamed, without_tags(path))] == []


def test_fields_that_are_folded_away_are_shown_where_they_are_refused():
    folded = re.compile(r"<details((?:{%.*?%}|[^>])*)>(.*?)</details>", re.DOTALL)
    hidden = [
        f"{path}: {name}"
        for path in templates()
        for opening, content in folded.findall(path.read_text("utf-8"))
        for name in re.findall(r"field=form\.(\w+)", content)
        if not re.search(rf"form\.(errors|has_\w*errors|{name}\.)", opening)
    ]

    assert hidden == []


def test_blocks_are_closed_by_name():
    unnamed = [path for path in templates() if re.search(r"{%\s*endblock\s*%}", path.read_text())]

    assert unnamed == []


def test_every_partial_says_what_it_wants():
    def lacks(text: str) -> bool:
        return not text.startswith(("{#", "{% comment"))

    partials = [path for path in templates() if path.name.startswith("_")]

    assert [str(path) for path in partials if lacks(path.read_text("utf-8"))] == []


def test_templates_compile():
    for path in templates():
        name = path.relative_to(ROOT / "templates")
        assert Template(path.read_text("utf-8")).name is None, name


NAMED = re.compile(
    r"""["']((?:annotation|scoring|benchmarks_app|registration)/[\w/]+\.(?:html|txt))["']"""
)


def test_a_template_that_is_named_is_there():
    naming = [*templates(), *sources(*APPS)]
    named = {name for path in naming for name in NAMED.findall(path.read_text("utf-8"))}

    assert len(named) > 200
    assert [name for name in named if not (ROOT / "templates" / name).exists()] == []


LINK = r"{%\s*url\s+[\"']([^\"']+)[\"'](?![^%]*\sas\s)"


def test_a_link_in_a_template_leads_somewhere():
    """Every name that a `{% url %}` gives is one of ours; with `as` it may be absent."""
    known = {name for name, _ in patterns()}
    named = {name for path in templates() for name in re.findall(LINK, path.read_text("utf-8"))}

    assert {name for name in named if not name.startswith("admin:")} - known == set()


# --- names ---------------------------------------------------------------------------------------


def patterns() -> list[tuple[str, Any]]:
    """(URL name, view) of every address of ours."""

    def below(resolver: URLResolver, prefix: str) -> Iterator[tuple[str, Any]]:
        for part in resolver.url_patterns:
            if isinstance(part, URLPattern):
                yield f"{prefix}{part.name}", part.callback
            elif part.namespace != "admin":
                yield from below(part, f"{part.namespace}:" if part.namespace else prefix)

    return list(below(get_resolver(), ""))


# Reviewed: `annotation:stop` is a word of the labeling page; its view says what is stopped.
OTHER_VIEW_NAME = {"annotation:stop": "judge_stop"}


def test_view_is_called_as_its_address():
    differing = {}
    for name, view in patterns():
        own = name.split(":")[-1].replace("-", "_")
        called = getattr(view, "view_class", view).__name__
        if re.sub(r"(?<!^)(?=[A-Z])", "_", called).lower() != own:
            differing[name] = called

    assert differing == OTHER_VIEW_NAME


# Reviewed. Pages of the whole site have no noun of their own; state and error pages are named for
# what they say, and are shown by the view of another page.
OTHER_TEMPLATE_NAME = {
    "benchmarks_app/people/account_deleted",  # what account_delete shows once it is done
    "annotation/labels/judgments_import_raters",
    "benchmarks_app/people/invitation_closed",
    "benchmarks_app/people/invitation_created",
    "scoring/comparisons/comparison_empty",
    "scoring/planning/freshness_empty",
    "scoring/boards/leaderboard_empty",
    "scoring/rescoring/moves_empty",
    "scoring/gates/policy_empty",
    "scoring/submissions/submission_closed",
    "scoring/completeness/top_up_choose",
}


def test_page_template_is_called_as_its_view():
    views = {name.split(":")[-1].replace("-", "_") for name, _ in patterns()}
    pages = [
        name.with_suffix("")
        for name in (path.relative_to(ROOT / "templates") for path in templates())
        if name.parts[0] in APPS and not name.name.startswith("_")
    ]
    assert len(pages) > 100

    assert {str(page) for page in pages if page.name not in views} == OTHER_TEMPLATE_NAME


COMMANDS = sorted(name for name, app in get_commands().items() if app in APPS)


@pytest.mark.parametrize("name", COMMANDS)
def test_command_says_what_it_does(name):
    command = load_command_class(get_commands()[name], name)

    assert re.fullmatch(r"[A-Z].{15,}\.", command.help, re.DOTALL), command.help


@pytest.mark.parametrize("name", COMMANDS)
def test_command_has_no_parser_of_its_own(name):
    command = type(load_command_class(get_commands()[name], name))

    assert issubclass(command, DeclaredCommand)
    assert "add_arguments" not in vars(command)


OLD_SPELLINGS = [
    ("create_benchmark", ["a", "--name", "A", "--owner", "ada", "--lang", "de"], "language", "de"),
    ("import_file", ["a", "a.tsv", "--lang", "de"], "language", "de"),
    ("invite", ["a", "--role", "annotator", "--as", "ada"], "user", "ada"),
    ("make_slice", ["a", "b", "--rule", "{}", "--preview"], "dry_run", True),
    ("sample_queries", ["a", "b", "--preview"], "dry_run", True),
    ("publish_release", ["a", "--qrels", "b", "--threshold", "2"], "rel", 2),
    ("retrieve", ["a", "-o", "b.run", "--k", "7"], "depth", 7),
    ("verify_store", ["--json"], "json", True),
]


@pytest.mark.parametrize(("name", "words", "option", "value"), OLD_SPELLINGS)
def test_old_spelling_of_an_option_is_taken(name, words, option, value):
    parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)

    assert getattr(parser.parse_args(words), option) == value


def test_names_have_one_length():
    """What people call by a field `name`; a file, an image, a grade and a worker have others."""
    others = {"Grade", "Upload", "CaseImage", "WorkerHeartbeat"}
    lengths = {
        model.__name__: field.max_length
        for model in apps.get_models()
        if model.__module__.startswith(("benchmarks_app", "annotation", "scoring"))
        for field in model._meta.fields
        if field.name == "name" and field.max_length
    }

    assert len(lengths) > 15
    assert {name for name, length in lengths.items() if length != LONGEST_NAME} == others


# --- size ----------------------------------------------------------------------------------------

# Reviewed: none so far. An entry is `path:function`, with the reason beside it.
LONGER_FUNCTIONS: set[str] = set()


def functions_of(path: Path) -> Iterator[tuple[str, int]]:
    """(name, lines without docstring) of every function and method."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            documented = ast.get_docstring(node) is not None and len(node.body) > 1
            first = node.body[1].lineno if documented else node.lineno
            yield node.name, node.end_lineno - first + 1


def test_most_functions_are_small_and_none_is_longer_than_a_screen():
    functions = [
        (f"{path.relative_to(ROOT)}:{name}", length)
        for path in sources()
        for name, length in functions_of(path)
    ]
    lengths = sorted(length for _, length in functions)

    assert {name for name, length in functions if length > LONGEST_FUNCTION} == LONGER_FUNCTIONS
    assert lengths[len(lengths) // 2] <= 10
    assert lengths[len(lengths) * 9 // 10] <= 35
