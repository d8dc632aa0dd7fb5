"""Whoever may write addresses learns nothing of the private network by what they are told."""

import re
import socket
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from benchwright.contextual.judging import outcomes_of
from benchwright.contextual.types import Case, Options
from benchwright.fetching import addresses
from benchwright.fetching.download import FetchLimits, download
from benchwright.fetching.errors import UnreachableError
from benchwright.judges.client import OpenAIJudge
from benchwright.judges.endpoint import Endpoint as JudgeEndpoint
from benchwright.judges.images import fetched, image_at
from benchwright.live.asking import Endpoint as LiveEndpoint
from benchwright.live.asking import try_one
from benchwright.live.connections import Server
from benchwright.live.paths import read_shape
from benchwright.live.templates import read_template

# A machine of the public network, as far as these tests go: nobody listens there.
PUBLIC = "127.0.0.2"
NAMES = {"private.example.org": "127.0.0.1", "six.example.org": "::1", "public.example.org": PUBLIC}


@dataclass
class Network:
    """A private machine with an open port and a closed one; `met` is who connected to it."""

    open: int
    closed: int
    met: list[object] = field(default_factory=list)

    def addresses(self) -> dict[str, str]:
        """One address for each way in which nothing comes of asking."""
        return {
            "private, open": f"http://private.example.org:{self.open}",
            "private, closed": f"http://private.example.org:{self.closed}",
            "private by IPv6, open": f"http://six.example.org:{self.open}",
            "private by IPv6, closed": f"http://six.example.org:{self.closed}",
            "unknown": f"http://unknown.example.org:{self.open}",
            "public, closed": f"http://public.example.org:{self.closed}",
        }


class Listener(HTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), BaseHTTPRequestHandler)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.network = Network(self.server_port, free.getsockname()[1])

    def get_request(self):
        request, client = super().get_request()
        self.network.met.append(client)
        return request, client


@pytest.fixture
def network(monkeypatch):
    """Names that lead to this machine, by a resolver of the test's own."""
    resolve, is_public = socket.getaddrinfo, addresses.is_public

    def resolved(host, port, *args, **more):
        name = host.decode() if isinstance(host, bytes) else host
        if str(name).endswith(".example.org"):
            if name not in NAMES:
                raise socket.gaierror(-2, "Name or service not known")
            return resolve(NAMES[name], port, *args, **more)
        return resolve(host, port, *args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    monkeypatch.setattr(addresses, "is_public", lambda ip: str(ip) == PUBLIC or is_public(ip))
    server = Listener()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server.network
    server.shutdown()
    thread.join()
    server.server_close()


def of_live_system(address: str) -> str:
    endpoint = LiveEndpoint(
        server=Server(f"{address}/x", private=[], timeout=5),
        method="GET",
        template=read_template("q={{query}}", method="GET"),
        shape=read_shape(results="$", id="id"),
        k=10,
        requests_per_second=2000.0,
        retries=0,
    )
    outcome, _ = try_one(endpoint, ("q1", "one"))
    return f"{outcome.why} {outcome.status}"


def of_judge(address: str) -> str:
    settings = {"first_wait": 0.01, "max_attempts": 3, "timeout": 5.0, "may_be_private": False}
    judge = OpenAIJudge(JudgeEndpoint("m-1", f"{address}/v1", **settings), "key")
    case = Case("A question?", "That.", ["a node", "another"], id="c1")
    (outcome,) = outcomes_of([case], judge, Options(include_reason=False))
    return f"{outcome.error.code} {outcome.error.message}"


def of_image(address: str) -> str:
    with pytest.raises(Exception, match="example") as refusal:
        fetched(image_at(f"{address}/a.png"))
    return f"{refusal.value.code} {refusal.value}"


def bare(words: str) -> str:
    """What was said, without the name and the port that were asked for."""
    return re.sub(r"[a-z]+\.example\.org(:\d+)?", "NAME", words)


@pytest.mark.parametrize("ask", [of_live_system, of_judge, of_image])
def test_private_unknown_and_silent_names_are_told_in_one_sentence(network, ask):
    ask(network.addresses()["unknown"])  # what is imported with the first one takes its time
    words, seconds = {}, {}
    for kind, address in network.addresses().items():
        began = time.monotonic()
        words[kind] = bare(ask(address))
        seconds[kind] = time.monotonic() - began

    assert len(set(words.values())) == 1, words
    assert "nobody answers there, or it is not in the public network" in words["unknown"]
    assert max(seconds.values()) - min(seconds.values()) < 0.5, seconds
    assert network.met == []


@pytest.mark.parametrize("kind", ["private, open", "private, closed", "unknown"])
def test_redirect_into_the_private_network_tells_no_more(network, kind, tmp_path, monkeypatch):
    leads_to = f"{network.addresses()[kind]}/x"

    class Leading(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(302)
            self.send_header("Location", leads_to)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer((PUBLIC, 0), Leading)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        with pytest.raises(UnreachableError) as refusal:
            address = f"http://public.example.org:{server.server_port}/set.zip"
            download(address, tmp_path / "set", limits=FetchLimits(max_bytes=1000))
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

    assert bare(str(refusal.value)) == bare(str(UnreachableError(address="http://x.example.org")))
    assert network.met == []


def test_cause_is_in_the_log_of_the_site(network, caplog):
    caplog.set_level("INFO", logger="benchwright")

    of_live_system(network.addresses()["private, open"])

    assert "could not be asked: 127.0.0.1 is not in the public network" in caplog.text
