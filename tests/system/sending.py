"""Sending a run in by the form of the page, as a browser does."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.system.site import Site
from tests.system.visitor import PASSWORD


@contextmanager
def signed_in(site: Site, username: str) -> Iterator[httpx.Client]:
    """A client with the session of a person."""
    with httpx.Client(
        base_url=site.url, timeout=120, follow_redirects=True, trust_env=False
    ) as client:
        client.get("/sign-in/")
        who = {"username": username, "password": PASSWORD}
        client.post("/sign-in/", data={**who, **_token(client)})
        yield client


def sent_in(client: httpx.Client, slug: str, path: str, **fields: str) -> httpx.Response:
    """The answer to a run that is sent in by the form of the page."""
    with Path(path).open("rb") as file:
        return client.post(
            f"/b/{slug}/runs/submit/",
            data={
                "name": Path(path).stem,
                "visibility": "benchmark",
                **_token(client),
                **fields,
            },
            files={"file": (Path(path).name, file)},
        )


@contextmanager
def half_sent(client: httpx.Client, site: Site, slug: str) -> Iterator[None]:
    """While this lasts, a person sends a large file in, and is in the middle of it."""
    cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    head = (
        f"POST /b/{slug}/runs/submit/ HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\n"
        f"Cookie: {cookies}\r\n"
        "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 90000000\r\n\r\n"
        '--b\r\nContent-Disposition: form-data; name="csrfmiddlewaretoken"\r\n\r\n'
        f"{client.cookies['csrftoken']}\r\n"
        '--b\r\nContent-Disposition: form-data; name="file"; filename="half.run"\r\n\r\n'
    )
    with socket.create_connection(("127.0.0.1", site.port)) as connection:
        connection.sendall(head.encode() + b"q1 Q0 d1 1 1 half\n" * 500_000)
        yield


def _token(client: httpx.Client) -> dict[str, str]:
    return {"csrfmiddlewaretoken": client.cookies["csrftoken"]}
