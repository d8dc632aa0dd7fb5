import pytest

from benchmarks_app.people.services.api_tokens import create_api_token
from tests import factories
from tests.benchwright.cli.sites import sites


@pytest.fixture
def benchwright(tmp_path):
    """A function that runs `benchwright` with words; its logins are the test's own."""
    return sites.runner(tmp_path / "config")


@pytest.fixture
def site(db, monkeypatch):
    """The address of the site of this process; every client asks it."""
    with sites.connected() as transport, sites.carried_by(monkeypatch, transport):
        yield sites.URL


@pytest.fixture
def token_of():
    """A function that gives a person's token."""
    return lambda person: create_api_token(user=person, name="laptop", days=30).secret


@pytest.fixture
def on(benchwright, site, token_of):
    """A function that runs `benchwright --site … --benchmark tiny` as who keeps the benchmark."""
    benchmark = factories.tiny_benchmark("tiny")
    secret = token_of(factories.member(benchmark, "olga", "owner"))

    def on(*words: str, benchmark: str = "tiny"):
        before = ("--site", site, "--benchmark", benchmark)
        return benchwright(*before, *words, BENCHWRIGHT_TOKEN=secret)

    return on
