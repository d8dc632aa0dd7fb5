"""Documentation under test: what there is has a heading, what is linked exists."""

import doctest
import re
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.core.management import get_commands

import benchwright
from benchwright.cli.main import ENVIRONMENT, EXIT_CODES, main
from benchwright.evaluation.scorecards import Rules
from benchwright.measures.families import FAMILIES
from benchwright.measures.registry import parse_measure, parse_measures
from tests import errors_page, reference_pages, reference_settings

ROOT = Path(__file__).resolve().parent.parent
APPS = ("benchmarks_app", "annotation", "scoring")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def headings(page: str) -> str:
    text = (ROOT / "docs" / page).read_text("utf-8")
    return "\n".join(line for line in text.splitlines() if line.startswith("#"))


def test_every_command_has_a_heading():
    ours = {name for name, app in get_commands().items() if app in APPS}

    assert {name for name in ours if f"`{name}`" not in headings("commands.md")} == set()


def test_every_documented_command_exists():
    documented = set(re.findall(r"^### `(\w+)`", headings("commands.md"), re.MULTILINE))

    assert documented <= set(get_commands())


def test_every_command_of_benchwright_has_a_heading():
    documented = set(re.findall(r"^### `benchwright (\w+)`", headings("commands.md"), re.MULTILINE))

    assert documented == set(main.known())


def test_exit_codes_and_environment_of_benchwright_are_documented():
    page = (ROOT / "docs" / "commands.md").read_text("utf-8")

    assert [code for code, _ in EXIT_CODES if f"| {code} |" not in page] == []
    assert [name for name, _ in ENVIRONMENT if name not in page] == []


def test_every_field_of_a_result_is_documented():
    page = (ROOT / "docs" / "formats.md").read_text("utf-8").partition("## Result file")[2]

    assert [name for name in Rules._fields if f"`{name}`" not in page] == []


def names_of_settings() -> set[str]:
    source = (ROOT / "benchmarks_app" / "settings.py").read_text("utf-8")
    provider = (ROOT / "benchmarks_app" / "oidc" / "provider.py").read_text("utf-8")
    of_site = re.findall(r'env_\w+\(\s*"([A-Z_]+)"', source)
    return {*of_site, *re.findall(r'"((?:OIDC|SIGN_IN)_[A-Z_]+)"', provider)}


def test_every_setting_has_a_heading():
    settings = names_of_settings()

    assert settings
    assert {name for name in settings if f"`{name}`" not in headings("settings.md")} == set()


def test_every_variable_that_the_code_reads_is_a_setting_or_none_of_ours():
    results = {name for name, _ in (*ENVIRONMENT, *reference_settings.OF_JUDGES)}
    known = {*reference_settings.settings(), *results, *reference_settings.NONE_OF_OURS}
    names = reference_settings.read_elsewhere()

    assert names - known == set()
    assert names >= {"BENCHWRIGHT_SCANNER", "BENCHWRIGHT_DEBUG", "BENCHWRIGHT_SERVER", "TMPDIR"}


def test_table_of_settings_has_all_with_what_the_site_does_without_them():
    row = re.compile(r"^\| \[`([A-Z_]+)`\]\S* \| .* \| (?:`(.*)`)? ?\|$", re.MULTILINE)
    rows = dict(row.findall(reference_settings.page()))

    assert names_of_settings() == set(rows)
    for name in ("LEASE_SECONDS", "JOB_MAX_ATTEMPTS", "NOTICE_MAILS_PER_HOUR", "TWO_FACTORS"):
        assert rows[name] == str(getattr(django_settings, name)), name


def test_names_of_the_table_of_measures_parse_to_their_measure():
    page = (ROOT / "docs" / "reference" / "measures.md").read_text("utf-8")
    sections = page.split("\n## `")[1:]

    assert len(sections) == len(FAMILIES)
    for section in sections:
        family = section.partition("`")[0]
        listed = dict(re.findall("^- ([^:]+): (.*)$", section, re.MULTILINE))
        for name in re.findall("`([^`]+)`", f"{listed['write']} {listed.get('also', '')}"):
            lacks = FAMILIES[family].cutoff == "needed" and "@" not in name
            assert parse_measure(f"{name}@10" if lacks else name).family == family
        for name in re.findall("`([^`]+)`", listed.get("trec_eval", "")):
            lacks = FAMILIES[family].cutoff == "needed"
            of_trec = parse_measures([f"{name}.1" if lacks else name])
            assert {measure.family for measure in of_trec} == {family}
        for option in re.findall("`([^`]+)`", listed.get("options", "").replace("=None", "=1")):
            example = re.findall("`([^`@]+)(@[^`]*)?`", listed["write"])[-1]
            if not option.startswith("gains"):
                assert parse_measure(f"{family}({option}){example[1]}").family == family


def test_list_of_errors_is_that_of_the_code():
    kept = errors_page.PAGE.read_text("utf-8")

    assert kept == errors_page.written(), "renew docs/errors.md with `make openapi`"


@pytest.mark.parametrize("page", reference_pages.PAGES)
def test_reference_is_that_of_the_code(page):
    kept = (reference_pages.FOLDER / f"{page}.md").read_text("utf-8")

    assert kept == reference_pages.PAGES[page](), "renew docs/reference/ with `make openapi`"


def test_every_measure_has_a_heading():
    known = headings("metrics.md")

    assert {name for name in FAMILIES if f"`{name}" not in known} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page):
    targets = re.findall(r"\]\((?!https?://|#)([^)#]+)", page.read_text("utf-8"))

    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize(("page", "least"), [("python", 11), ("from-trec-eval-and-ranx", 4)])
def test_examples_in_python_are_true(monkeypatch, page, least):
    monkeypatch.chdir(ROOT)
    names = {name: getattr(benchwright, name) for name in benchwright.__all__}

    failed, tried = doctest.testfile(
        str(ROOT / "docs" / f"{page}.md"), module_relative=False, globs=names
    )

    assert (failed, tried >= least) == (0, True)
