"""What `make mutants` says of a toy, of which is known what its one test notices."""

import json
import time
from pathlib import Path

import pytest

# `make mutants` installs it, and CI runs this file with it.
pytest.importorskip("cosmic_ray")

from tests.mutants import __main__ as command
from tests.mutants import making, page, running
from tests.mutants.running import KILLED, LATE, SURVIVED, Running

ROOT = Path(__file__).parents[1]
TOY = """\
def is_old(age: int = 3) -> bool:
    return age > 30


def count(n, *, end):
    while n > end:
        n = n - 1
    return n
"""
TEST = """\
from toy import count, is_old


def test_toy():
    assert is_old(60) and not is_old(1)
    assert count(2, end=0) == 0
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A folder with a module, its test, an empty page and no reasons."""
    (tmp_path / "toy.py").write_text(TOY)
    (tmp_path / "test_toy.py").write_text(TEST)
    (tmp_path / "page.md").write_text(f"Before.\n\n{page.BEGIN}\n{page.END}\n\nAfter.\n")
    (tmp_path / "reasons.json").write_text("{}")
    for name in ("HYPOTHESIS_STORAGE_DIRECTORY", "BENCHWRIGHT_DATA"):  # the command sets them
        monkeypatch.setenv(name, str(tmp_path))
    # Django's test environment is set up once a process, and this one has it.
    plain = [option for option in running.OPTIONS if option != "--nomigrations"]
    monkeypatch.setattr(running, "OPTIONS", (*plain, "-p", "no:django"))
    monkeypatch.setattr(making, "ROOT", tmp_path)
    monkeypatch.setattr(command, "ROOT", tmp_path)
    monkeypatch.setattr(command, "AREAS", {"first": ([], []), "toy": (["toy.py"], ["test_toy.py"])})
    monkeypatch.setattr(command, "KEPT", tmp_path / "var" / "results.jsonl")
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(page, "REASONS", tmp_path / "reasons.json")
    return tmp_path


def mutants_of(toy: Path) -> dict[str, making.Mutant]:
    mutants = filter(None, map(making.mutant_at, making.places_in(toy / "toy.py")))
    return {" ".join(mutant.now.split()): mutant for mutant in mutants}


def found(mutant: making.Mutant | None, toy: Path, seconds: int = 60) -> str:
    process = Running(mutant, [str(toy / "test_toy.py")], seconds)
    while (result := process.result()) is None:
        time.sleep(0.02)
    return result


def test_code_is_mutated_and_types_are_not(toy):
    assert set(mutants_of(toy)) == {
        *("def is_old(age: int = 4) -> bool:", "def is_old(age: int = 2) -> bool:"),
        *("return age >= 30", "return age <= 30", "return age > 31", "return age > 29"),
        *("while n >= end:", "while n <= end:", "while not n > end:"),
        *("n = n + 1", "n = n - 2", "n = n - 0"),
    }


def test_strict_zip_is_not_mutated_and_other_keywords_are(toy):
    (toy / "toy.py").write_text(
        "A = zip([], [], strict=True)\nB = zip([], [], strict=False)\nC = dict(strict=True)\n"
    )

    assert set(mutants_of(toy)) == {"B = zip([], [], strict=True)", "C = dict(strict=False)"}


def test_what_only_a_checker_of_types_imports_is_not_mutated(toy):
    (toy / "toy.py").write_text(
        "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    import json\n"
        "if TYPE_CHECKING or ():\n    A = 1\n"
    )

    assert set(mutants_of(toy)) == {
        *("TYPE_CHECKING = True", "if not TYPE_CHECKING or ():", "if TYPE_CHECKING and ():"),
        *("A = 2", "A = 0"),
    }


def test_exception_with_a_dotted_name_stays(toy):
    (toy / "toy.py").write_text(
        "import json\ntry:\n    A = json.loads('')\n"
        "except (KeyError, json.JSONDecodeError):\n    A = None\n"
    )

    assert set(mutants_of(toy)) == {"except (CosmicRayTestingException, json.JSONDecodeError):"}


@pytest.mark.parametrize(
    ("now", "expected"),
    [("return age <= 30", KILLED), ("return age >= 30", SURVIVED), ("n = n + 1", LATE)],
)
def test_mutant_is_killed_or_survives_or_is_late(toy, now, expected):
    assert found(mutants_of(toy)[now], toy, 2 if expected == LATE else 60) == expected


def test_package_is_mutated_too(toy):
    (toy / "package").mkdir()
    (toy / "package" / "__init__.py").write_text("N = 3\n")
    (toy / "test_toy.py").write_text(
        "import package\n\n\ndef test_toy():\n    assert package.N == 3\n"
    )
    (mutant, _) = map(making.mutant_at, making.places_in(toy / "package" / "__init__.py"))

    assert mutant.module == "package"
    assert found(mutant, toy) == KILLED


def test_code_without_a_mistake_passes_and_stays(toy):
    assert found(None, toy) == SURVIVED
    assert (toy / "toy.py").read_text() == TOY


def test_row_counts_survivors_without_a_reason_and_what_was_noticed_at_first(toy):
    mutants = list(mutants_of(toy).values())[:5]
    runs = dict(
        zip(
            (mutant.key for mutant in mutants),
            ([KILLED], [SURVIVED, KILLED], [LATE], [SURVIVED], [SURVIVED]),
            strict=True,
        )
    )
    reason = f"toy: {mutants[3].was} -> {mutants[3].now}"
    page.REASONS.write_text(json.dumps({reason: "No age is this old."}))

    line, share = page.row("toy", 1300, "7", mutants, runs)

    assert line.startswith("| toy | 1,300 | 5 | 7 | 2 | 1 | 1 | 1 | 75.0% | 50.0% | 20")
    assert share == 0.75


def test_page_has_a_row_of_this_run_and_keeps_those_of_other_areas(toy, monkeypatch, capsys):
    page.write_page(
        ["| first | of another day |", "| toy | old |", "| gone | old |"], ["first", "toy"]
    )
    monkeypatch.setattr("sys.argv", ["mutants", "toy", "--sample", "2", "--seed", "5"])

    assert command.main() == 1

    before, table, after = page.PAGE.read_text().split("\n\n")
    assert (before, after) == ("Before.", "After.\n")
    marker, head, rule, *rows, end = table.splitlines()
    assert (marker, end) == (page.BEGIN, page.END)
    assert rows[0] == "| first | of another day |"
    assert rows[1].startswith("| toy | 13 | 2 | 5 | 0 | 0 | 0 | 2 | 0.0% | 0.0% | 20")
    assert head.count("|") == rule.count("|") == rows[1].count("|")
    assert "  toy:2: return age > 30  ->  return age > 31\n" in capsys.readouterr().out


def test_survivors_without_a_reason_are_run_again(toy, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["mutants", "toy", "--sample", "2", "--seed", "5"])
    command.main()
    (toy / "reasons.json").write_text(
        json.dumps(
            {"toy: def is_old(age: int = 3) -> bool: -> def is_old(age: int = 2) -> bool:": "."}
        )
    )
    # Of another length: what Python has compiled in this second would pass for it otherwise.
    (toy / "test_toy.py").write_text(TEST.replace("is_old(60)", "is_old(30 + 1)"))

    assert command.main() == 0

    assert "| toy | 13 | 2 | 5 | 1 | 0 | 1 | 0 | 100.0% | 0.0% |" in capsys.readouterr().out
    assert len((toy / "var" / "results.jsonl").read_text().splitlines()) == 3


def test_reasons_are_of_lines_that_are_there():
    for key in json.loads((ROOT / "tests/mutants/reasons.json").read_text("utf-8")):
        module, _, change = key.partition(": ")
        place = ROOT / module.replace(".", "/")
        path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        source = path.read_text("utf-8")
        lines = {line.strip() for line in source.splitlines()}
        assert any(change.startswith(f"{line} -> ") for line in lines if line), key
