from collections.abc import Callable
from typing import Any

import pytest

from benchwright.live.asking import Endpoint
from benchwright.live.connections import Server
from benchwright.live.paths import read_shape
from benchwright.live.templates import read_template
from tests.scoring.search_server import BODY, SearchServer

Make = Callable[..., Endpoint]


@pytest.fixture
def endpoint(server: SearchServer) -> Make:
    """An endpoint of that server, which nobody waits for longer than a test should take."""

    def make(url: str = "", *, template: str = BODY, method: str = "POST", **more: Any) -> Endpoint:
        server_options = {
            name: more.pop(name) for name in ("timeout", "most_bytes", "private") if name in more
        }
        shape = more.pop("shape", None) or read_shape(
            results="hits.hits", id="_id", score="_score", is_opensearch=True
        )
        fields = {"requests_per_second": 2000.0, "first_pause": 0.01, "k": 10, **more}
        return Endpoint(
            server=Server(url or server.url, **{"private": ["127.0.0.1"], **server_options}),
            method=method,
            template=read_template(template, method=method),
            shape=shape,
            **fields,
        )

    return make
