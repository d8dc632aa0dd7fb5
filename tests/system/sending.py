"""Sending a run in by the form of the page, as a browser does."""

from pathlib import Path

import httpx

from tests.system.site import Site
from tests.system.visitor import PASSWORD


def signed_in(site: Site, username: str) -> httpx.Client:
    """A client with the session of a person; to be closed."""
    client = httpx.Client(base_url=site.url, timeout=120, follow_redirects=True, trust_env=False)
    client.get("/sign-in/")
    client.post("/sign-in/", data={"username": username, "password": PASSWORD, **_token(client)})
    return client


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
