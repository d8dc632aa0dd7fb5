"""One site for each broker, shared by the tests of a run; every test finds and leaves it idle."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import kombu
import pytest
import redis

from tests.system.site import FILESYSTEM, Site
from tests.system.visitor import Visitor

REDIS = os.environ.get("TEST_BROKER_URL", "redis://127.0.0.1:6379/9")
RABBITMQ = os.environ.get("TEST_AMQP_URL", "amqp://guest:guest@127.0.0.1:5672//")
HERE = Path(__file__).parent
BROKERS = [
    pytest.param(FILESYSTEM, id="filesystem"),
    pytest.param(REDIS, id="redis", marks=pytest.mark.broker),
]


# Of the others a third is enough where time is short: what they hold seldom breaks alone.
EACH_TIME = ("test_newcomer.py", "test_schemathesis.py", "test_up.py", "test_wheel.py")
# Those whose tests share what takes long.
WHOLE = (
    *("test_demo.py", "test_deploying.py", "test_dying.py", "test_first_tables.py"),
    "test_site_path.py",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        name = item.path.name
        if item.path.parent == HERE and name not in EACH_TIME:
            item.add_marker(pytest.mark.in_thirds(whole=name in WHOLE))


def needs_broker(url: str) -> None:
    """Skip the test where the broker does not answer; fail it where services are required."""
    try:
        if url.startswith("redis"):
            with redis.Redis.from_url(url, socket_connect_timeout=2) as client:
                client.ping()
        elif url.startswith("amqp"):
            with kombu.Connection(url, connect_timeout=2) as connection:
                connection.ensure_connection(max_retries=1, timeout=2)
    except (redis.RedisError, OSError, kombu.exceptions.KombuError) as error:
        names = "TEST_BROKER_URL, TEST_AMQP_URL"
        why = f"no broker answers at {url} ({names}): {error}"
        if os.environ.get("BENCHWRIGHT_REQUIRE_SERVICES") == "1" or os.environ.get("CI") == "true":
            pytest.fail(why)
        pytest.skip(why)


def _site_of_a_run(broker: str, factory: pytest.TempPathFactory) -> Iterator[Site]:
    needs_broker(broker)
    folder = factory.mktemp("site")
    with Site(folder, broker=broker) as site:
        yield site
    shutil.rmtree(folder, ignore_errors=True)


def _left_idle(site: Site) -> Iterator[Site]:
    yield site
    site.end_processes()
    for path in (site.folder / "logs").iterdir():
        path.unlink()
    # What a failed test left undone must not be done in the next.
    site.rows(
        "UPDATE benchmarks_app_job SET state = 'failed', token = NULL"
        " WHERE state IN ('queued', 'running')"
    )


@pytest.fixture(scope="session", params=BROKERS)
def site_of_broker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    yield from _site_of_a_run(request.param, tmp_path_factory)


@pytest.fixture
def site(site_of_broker: Site) -> Iterator[Site]:
    """A site without processes; the test runs once for each broker."""
    yield from _left_idle(site_of_broker)


@pytest.fixture(scope="session")
def plain_site_of_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    yield from _site_of_a_run(FILESYSTEM, tmp_path_factory)


@pytest.fixture
def plain_site(plain_site_of_run: Site) -> Iterator[Site]:
    """A site without processes, as it is with nothing installed."""
    yield from _left_idle(plain_site_of_run)


@pytest.fixture
def visitor():
    """A function that signs a person in at a site that serves."""
    return Visitor
