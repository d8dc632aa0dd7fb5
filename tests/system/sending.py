"""Sending a run in by the form of the page, as a browser does."""

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


def _token(client: httpx.Client) -> dict[str, str]:
    return {"csrfmiddlewaretoken": client.cookies["csrftoken"]}
