"""The `querytime` of topics that were imported before is when they were first seen, as of new ones."""

from datetime import UTC, datetime

from django.db import migrations

from benchwright.formats.trec_topics import topic_time

BATCH = 500


def _timed(apps, **has):
    """Queries whose metadata hold a `querytime` that can be read, and the moment that it says."""
    queries = apps.get_model("benchmarks_app", "Query").objects
    for query in queries.filter(metadata__has_key="querytime", **has).iterator(BATCH):
        said = query.metadata["querytime"]
        written = topic_time(said) if isinstance(said, str) else None
        if written:
            moment = datetime.fromisoformat(written)
            yield query, moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _save(apps, queries):
    manager = apps.get_model("benchmarks_app", "Query").objects
    manager.bulk_update(queries, ["first_seen_at"], batch_size=BATCH)


def set_first_seen(apps, schema_editor):
    timed = list(_timed(apps, first_seen_at=None))
    for query, moment in timed:
        query.first_seen_at = moment
    _save(apps, [query for query, _ in timed])


def unset_first_seen(apps, schema_editor):
    timed = [query for query, moment in _timed(apps) if query.first_seen_at == moment]
    for query in timed:
        query.first_seen_at = None
    _save(apps, timed)


class Migration(migrations.Migration):
    dependencies = [("benchmarks_app", "0013_upload_reading")]
    operations = [migrations.RunPython(set_first_seen, unset_first_seen)]
