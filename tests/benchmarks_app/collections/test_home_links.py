"""Nobody meets a link on their home that is closed to them."""

import re
from collections.abc import Iterator
from html import unescape

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher
from django.db import transaction
from django.test import Client, override_settings
from django.urls import reverse

from tests import world as worlds
from tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.in_thirds]


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("world")
    hasher = f"{MD5PasswordHasher.__module__}.{MD5PasswordHasher.__name__}"
    patched = pytest.MonkeyPatch()
    patched.setattr("benchmarks_app.jobs.services.jobs.send", lambda job: None)
    with (
        override_settings(MEDIA_ROOT=folder, STAGING_DIR=folder, PASSWORD_HASHERS=[hasher]),
        django_db_blocker.unblock(),
        transaction.atomic(),
    ):
        yield worlds.build(files=folder)
        transaction.set_rollback(True)
    patched.undo()


def links(page: str) -> list[str]:
    """What the page leads to and asks for, beside the frame around it."""
    main = page[page.index("<main") : page.index("</main>")]
    matches = re.findall(r'(?:href|hx-get|action)="([^"#]+)', main)
    return sorted({unescape(link) for link in matches if link.startswith("/")})


def followed(client: Client, page: str) -> dict[str, int]:
    """The status of each address; what is posted to is asked for too, as 405 says it is there."""
    statuses = {}
    for link in links(page):
        with transaction.atomic():
            response = client.get(link, follow=True)
            statuses[link] = response.status_code
            transaction.set_rollback(True)
    return statuses


@pytest.mark.parametrize(
    ("person", "wanted"),
    [
        ("olga", ""),
        ("olga", "work"),
        ("olga", "runs"),
        ("mia", ""),
        ("bo", ""),
        ("bo", "work"),
        ("ada", ""),
        ("sam", ""),
        ("vi", ""),
    ],
)
def test_nobody_meets_a_link_that_is_closed_to_them(world, settings, person, wanted):
    settings.MEDIA_ROOT = world.files
    client = world.client(person)
    page = client.get(
        reverse("benchmark-detail", args=[world.benchmark.slug]), {"as": wanted}
    ).content.decode()

    statuses = followed(client, page)

    assert len(statuses) > 3
    assert {link: of for link, of in statuses.items() if of not in (200, 422)} == {}
