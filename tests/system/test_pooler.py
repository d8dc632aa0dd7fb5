"""Behind a pooler that gives each transaction another connection: a real PgBouncer."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest

from tests.conftest import are_services_required
from tests.system.making import beir_zip
from tests.system.site import Site, free_port
from tests.system.working import wait_for_job

pytestmark = pytest.mark.slow
# What follows is asked while others hold the connection that was just used.
ELSEWHERE = """
from contextlib import contextmanager
from threading import Event, Thread
from django.db import connection, transaction
from annotation.common.services import statements
from benchmarks_app.models import Query

def hold(begun, over):
    with transaction.atomic():
        Query.objects.exists()
        begun.set()
        over.wait()
    connection.close()

@contextmanager
def others():
    begun, over = Event(), Event()
    holding = Thread(target=hold, args=(begun, over))
    holding.start()
    begun.wait()
    yield
    over.set()
    holding.join()
"""
LISTED = """
qids = Query.objects.order_by("qid").values_list("qid", flat=True).iterator(chunk_size=2)
first = next(qids)
with others():
    print(first, *qids)
"""
PREPARED = """
for _ in range(2):
    print(*statements.rows("SELECT count(*) FROM benchmarks_app_query")[0])
    with others():
        print(*statements.rows("SELECT count(*) FROM benchmarks_app_query")[0])
"""


@pytest.fixture
def pooled_site(tmp_path: Path) -> Iterator[Site]:
    """A site whose processes share two connections by transactions."""
    # It refuses to be root, and nobody may read a folder of pytest.
    with tempfile.TemporaryDirectory() as folder, Site(tmp_path / "site") as site:
        if site.database.startswith("sqlite"):
            pytest.skip("pools connections to PostgreSQL")
        program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
        if program is None:
            why = "needs the program pgbouncer"
            (pytest.fail if are_services_required() else pytest.skip)(why)
        server, port = urlsplit(site.database), free_port()
        settings = Path(folder) / "pgbouncer.ini"
        words = {"host": server.hostname, "port": server.port or 5432, "user": server.username}
        words |= {"password": server.password} if server.password else {}
        settings.write_text(
            f"[databases]\n* = {' '.join(f'{name}={value}' for name, value in words.items())}\n"
            f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nauth_type = any\n"
            "unix_socket_dir =\npool_mode = transaction\ndefault_pool_size = 2\n"
            "ignore_startup_parameters = options\n"  # of PGOPTIONS, where it is set
        )
        Path(folder).chmod(0o755)
        settings.chmod(0o644)
        user = ["-u", "nobody"] if os.geteuid() == 0 else []
        pooler = subprocess.Popen([program, "-q", *user, settings])
        address = server._replace(netloc=f"{server.username}@127.0.0.1:{port}")
        site.env |= {"DATABASE_URL": urlunsplit(address), "DATABASE_PREPARED": "0"}
        yield site
        site.stop()
        pooler.terminate()
        pooler.wait()


def test_lists_and_statements_outlive_the_connection_that_they_began_on(pooled_site, tmp_path):
    archive = beir_zip(tmp_path / "small.zip", n_documents=10, n_queries=6)
    pooled_site.start("web")
    pooled_site.start("worker")
    job = pooled_site.call("start_import", slug="pooled", path=str(archive))
    wait_for_job(pooled_site, job, seconds=120)

    assert len(pooled_site.python(ELSEWHERE + LISTED).split()) == 6
    assert pooled_site.python(ELSEWHERE + PREPARED).split() == ["6"] * 4
