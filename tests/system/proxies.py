"""Reverse proxies before a site, and the tools that look at what lies in deploy/."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.system.site import ROOT

BIN = Path(sys.executable).parent
DEPLOY = ROOT / "deploy"
# Below which a site is in deploy/, where it is below any.
PATH = "/benchwright"


def tool(name: str) -> str:
    """Where a tool is; without it the test is skipped and says so."""
    result = shutil.which(name, path=f"{BIN}:{os.environ['PATH']}:/usr/sbin")
    if result is None:
        pytest.skip(f"{name} is not installed")
    return result


def run(*command: object) -> str:
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@contextmanager
def proxying(command: Sequence[object], folder: Path, port: int) -> Iterator[None]:
    """A proxy that runs, has what it keeps in this folder, and listens on this port."""
    proxy = subprocess.Popen(
        [*map(str, command)],
        env={**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder)},
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(100):
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield
    finally:
        # Asked to end, it would wait for who listens to events; and nginx's workers outlive it.
        os.killpg(proxy.pid, signal.SIGKILL)
        proxy.wait()


def nginx_below(folder: Path, port: int, site: int, *, strips: bool) -> list[object]:
    """The command of an nginx that has a site below a path, and another tool."""
    text = (DEPLOY / "nginx-path.conf").read_text()
    here = f"http://127.0.0.1:{site}{'/' if strips else ''};"
    assert text.count("http://127.0.0.1:8000;") == 1
    # The tests' port is not the usual one, and a part of the name.
    text = text.replace("http://127.0.0.1:8000;", here).replace("$host", "$http_host")
    (folder / "path.conf").write_text(text)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    whole = folder / "nginx.conf"
    whole.write_text(
        f"pid {folder}/pid;\nevents {{}}\nhttp {{\naccess_log off;\n{places}"
        f"server {{\nlisten 127.0.0.1:{port};\ninclude {folder}/path.conf;\n"
        'location / { return 200 "another tool"; }\n}\n}\n'
    )
    command = [tool("nginx"), "-e", folder / "error.log", "-c", whole]
    run(*command, "-t")
    return [*command, "-g", "daemon off;"]
