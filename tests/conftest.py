"""The fixed cast, a data folder of each test's own, and the triggers' pause while tables empty."""

import gc
import itertools
import os
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any
from zlib import crc32

from tests.made_once import begin_run, end_run
from tests.temporary import take_temporary_folder

os.environ["TMPDIR"] = take_temporary_folder()
# Before NumPy is imported, for sites and commands, too: of matrices as small as here, OpenBLAS's
# further threads do nothing but wait, by using up the processors that other tests need.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Before Django reads its settings: tests never touch a site's data folder.
os.environ.setdefault("BENCHWRIGHT_DATA", str(begin_run() / "site"))
os.environ.setdefault("SECRET_KEY", "only-for-tests-0123456789-abcdefghijklmnopqrstuvwxyz")

import hypothesis  # after the environment is set
import pytest

from tests import factories
from tests.examples import examples

# A busy machine is no reason to fail: the time of a test is measured elsewhere.
hypothesis.settings.register_profile("tests", deadline=None, max_examples=examples(100))
hypothesis.settings.load_profile("tests")

DATA = Path(
    os.environ.get(
        "BENCHWRIGHT_TEST_DATA", Path(__file__).resolve().parent.parent.parent / "shared" / "data"
    )
)


# Where time is short (CI says so), a third of what takes long is run.
THIRD = os.environ.get("TESTS_THIRD", "")


def are_services_required() -> bool:
    """Whether tests that need a browser or a broker run, and fail where there is none."""
    asked = os.environ.get("BENCHWRIGHT_REQUIRE_SERVICES"), os.environ.get("CI")
    return any(value in {"1", "true"} for value in asked)


def items_of_other_thirds(items: list[pytest.Item], third: int) -> list[pytest.Item]:
    """Of what is marked `in_thirds`, what this third leaves out; a module's tests take turns."""
    left_out, numbers = [], defaultdict(itertools.count)
    for item in items:
        # Real collections are as large as they are.
        marker = item.get_closest_marker("in_thirds") or item.get_closest_marker("data")
        if marker:
            module = item.nodeid.partition("::")[0]
            turn = crc32(module.encode())
            if not marker.kwargs.get("whole"):
                turn += next(numbers[module])
            if turn % 3 != third:
                left_out.append(item)
    return left_out


# Last: the markers that the folders below give their tests are there by then.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if THIRD:
        left_out = items_of_other_thirds(items, int(THIRD))
        config.hook.pytest_deselected(items=left_out)
        gone = set(left_out)
        items[:] = [item for item in items if item not in gone]
    if not are_services_required():
        for item in items:
            for service in ("browser", "broker"):
                if item.get_closest_marker(service):
                    why = f"needs a {service}: `make test-all` runs it"
                    item.add_marker(pytest.mark.skip(reason=why))
    if not DATA.is_dir():
        why = f"real collections are not at {DATA} (BENCHWRIGHT_TEST_DATA)"
        for item in items:
            if item.get_closest_marker("data"):
                item.add_marker(pytest.mark.skip(reason=why))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[Any]:
    """What is collected stays to the end: to look through it for garbage again and again would take
    half the time of collecting, and a part of each test's."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        # A search for garbage each 700 new objects takes a twentieth of the tests' time.
        gc.set_threshold(20_000, 20, 20)


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # the process that began the run
        from tests.system.site import drop_template

        drop_template()
        end_run()


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real collections."""
    return DATA


@pytest.fixture(autouse=True, scope="session")
def settings_of_tests() -> Iterator[None]:
    """What is another way in every test, set once: each change of a setting tells all of Django."""
    from django.test import override_settings

    with override_settings(
        JUDGE_COUNTS_SECONDS=0,
        # Tests of searching say themselves when a corpus is made searchable.
        SEARCHABLE_MAX_DOCS=0,
        # Whether somebody has built the documentation is nothing that tests depend on.
        DOCS_SITE=begin_run() / "no-documentation",
        API_ANONYMOUS_PER_MINUTE=10_000,
        # Every client of a test would list all static files before its first question.
        WHITENOISE_AUTOREFRESH=True,
        EMAIL_BACKEND="django.core.mail.backends.locmem.EmailBackend",
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    ):
        yield


folder_numbers = itertools.count()


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As pytest's own, but counted: that looks through the folders of all tests before."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    return tmp_path_factory.mktemp(f"{name}{next(folder_numbers)}", numbered=False)


def settings_in(folder: Path) -> dict[str, Any]:
    """Where a site of this data folder has its files; the folders are there afterwards."""
    below = {
        "MEDIA_ROOT": folder / "files",
        "STAGING_DIR": folder / "staging",
        "FILE_UPLOAD_TEMP_DIR": folder / "incoming",
    }
    for path in below.values():
        path.mkdir(parents=True, exist_ok=True)
    incoming = str(below["FILE_UPLOAD_TEMP_DIR"])
    return {"DATA_DIR": folder, **below, "FILE_UPLOAD_TEMP_DIR": incoming}


world_folders: list[Path] = []


@pytest.fixture(scope="module")
def world_of_module(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[], AbstractContextManager[None]]]:
    """What is made inside the context that this gives, each test of the module finds as it was.

    Rows stand in a transaction of which that of a test is a savepoint; of files each test has a
    copy. For what takes long and all tests of a module begin with: let an autouse fixture make it.
    """
    from django.db import transaction
    from django.test import override_settings

    folder = tmp_path_factory.mktemp("world")
    all_tests = transaction.atomic()
    all_tests._from_testcase = True  # as Django marks its own: durable blocks may stand within

    @contextmanager
    def making() -> Iterator[None]:
        with (
            django_db_blocker.unblock(),
            override_settings(**settings_in(folder)),
            pytest.MonkeyPatch.context() as patched,
        ):
            patched.setattr("benchmarks_app.jobs.services.jobs.send", lambda job: None)
            yield

    with django_db_blocker.unblock():
        all_tests.__enter__()
    world_folders.append(folder)
    yield making
    world_folders.remove(folder)
    with django_db_blocker.unblock():
        transaction.set_rollback(True)
        all_tests.__exit__(None, None, None)


@pytest.fixture(autouse=True)
def folders(settings, tmp_path: Path) -> None:
    """Every test has files, staging and queue folders of its own."""
    for world in world_folders:
        shutil.copytree(world, tmp_path / "site")
    for name, value in settings_in(tmp_path / "site").items():
        setattr(settings, name, value)


@pytest.fixture(scope="module")
def world(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    """The benchmarks of `tests/world.py`, made once for a module; all of it is taken back."""
    from django.db import transaction
    from django.test import override_settings

    from tests import world as worlds

    folder = tmp_path_factory.mktemp("world")
    with (
        override_settings(MEDIA_ROOT=folder, STAGING_DIR=folder),
        django_db_blocker.unblock(),
        pytest.MonkeyPatch.context() as patched,
        transaction.atomic(),
    ):
        patched.setattr("benchmarks_app.jobs.services.jobs.send", lambda job: None)
        yield worlds.build(files=folder)
        transaction.set_rollback(True)


@pytest.fixture
def in_the_world(world: Any, folders: None, settings: Any, db: None) -> None:
    """The files of the world are where the site looks for them."""
    settings.MEDIA_ROOT = world.files


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    """What one test left in the cache is not the next one's: rolled back, keys come again."""
    from django.core.cache import caches

    for name in ("default", "limits"):
        caches[name].clear()


@pytest.fixture(autouse=True)
def mail_is_sent_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is sent beside the answer is sent before it: a thread would not see a test's rows."""
    monkeypatch.setattr("benchmarks_app.people.services.mailing.send_later", lambda send: send())


@pytest.fixture(autouse=True)
def jobs_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Started jobs stay queued: a test does them with `do_jobs()`; no broker is spoken to."""
    monkeypatch.setattr("benchmarks_app.jobs.services.jobs.send", lambda job: None)


@pytest.fixture(autouse=True, scope="session")
def triggers_lifted_while_emptying() -> Iterator[None]:
    """Let transactional tests empty append-only tables; flushing puts the triggers back."""
    from django.test import TransactionTestCase

    from benchmarks_app.triggers import lift_triggers

    teardown = TransactionTestCase._fixture_teardown

    def lifted(self: TransactionTestCase) -> None:
        lift_triggers()
        teardown(self)

    TransactionTestCase._fixture_teardown = lifted
    yield
    TransactionTestCase._fixture_teardown = teardown


@pytest.fixture
def pages() -> None:
    """What pages show is registered with their addresses, when the first of them is asked for."""
    from django.urls import get_resolver

    assert get_resolver().url_patterns


def done_jobs() -> list[Any]:
    """The queued jobs, oldest first, each done in this process."""
    from benchmarks_app.jobs.services import jobs
    from benchmarks_app.models import Job

    queued = list(Job.objects.filter(state=Job.State.QUEUED).order_by("pk"))
    for job in queued:
        jobs.execute(job.pk, has_heartbeat=False)
        job.refresh_from_db()
    return queued


@pytest.fixture
def do_jobs():
    """A function that does every queued job."""
    return done_jobs


@pytest.fixture
def server() -> Iterator[Any]:
    """A search engine of ours."""
    from tests.scoring.search_server import SearchServer

    server = SearchServer()
    yield server
    server.stop()


@pytest.fixture
def benchmark(db):
    return factories.benchmark(slug="stdlib", name="Standard library")


@pytest.fixture
def owner(benchmark):
    """Olga owns the benchmark."""
    return factories.member(benchmark, "olga", "owner")


@pytest.fixture
def maintainer(benchmark):
    return factories.member(benchmark, "mia", "maintainer")


@pytest.fixture
def ada(benchmark):
    """Ada annotates."""
    return factories.member(benchmark, "ada", "annotator")


@pytest.fixture
def bo(benchmark):
    """Bo adjudicates."""
    return factories.member(benchmark, "bo", "adjudicator")


@pytest.fixture
def sam(benchmark):
    """Sam submits."""
    return factories.member(benchmark, "sam", "submitter")


@pytest.fixture
def vi(benchmark):
    """Vi views."""
    return factories.member(benchmark, "vi", "viewer")


@pytest.fixture
def cy(db):
    """Cy belongs to another benchmark and may not look."""
    other = factories.benchmark(slug="other", name="Other")
    return factories.member(other, "cy", "owner")


@pytest.fixture
def signed_in(client):
    """A function that gives the test client of a person."""

    def sign_in(user):
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        return client

    return sign_in
