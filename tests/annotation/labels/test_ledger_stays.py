"""No column of the ledger can be changed, the newer ones among them."""

import uuid

import pytest
from django.db import connection

from annotation.models import Judgment
from tests import factories
from tests.constraints import refused

pytestmark = pytest.mark.django_db
COLUMNS = [field.column for field in Judgment._meta.concrete_fields if not field.primary_key]


@pytest.mark.parametrize("column", COLUMNS)
def test_column_of_an_event_is_not_changed(benchmark, ada, column):
    event = Judgment.objects.create(
        benchmark=benchmark,
        query=factories.query(benchmark, "q1"),
        docid="d1",
        kind="import",
        grade=1,
        rater="Eve",
        source="a file",
        actor=ada,
        client_id=uuid.uuid4(),
    )
    before = list(Judgment.objects.values())

    with refused("the ledger of judgments is append-only"), connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE annotation_judgment SET {column} = {column} WHERE id = %s", [event.pk]
        )

    assert list(Judgment.objects.values()) == before


def test_columns_added_later_are_among_them():
    assert {"rater", "source", "outcome", "pool_id", "purpose", "view", "shown_chars"} <= set(
        COLUMNS
    )
