"""Nobody meets a link on their home that is closed to them."""

import re
from html import unescape

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

pytestmark = [pytest.mark.django_db, pytest.mark.in_thirds]


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
def test_nobody_meets_a_link_that_is_closed_to_them(world, in_the_world, person, wanted):
    client = world.client(person)
    page = client.get(
        reverse("benchmark-detail", args=[world.benchmark.slug]), {"as": wanted}
    ).content.decode()

    statuses = followed(client, page)

    assert len(statuses) > 3
    assert {link: of for link, of in statuses.items() if of not in (200, 422)} == {}
