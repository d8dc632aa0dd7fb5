"""Runs that were asked of a live system say so by their kind; so far they passed as uploaded."""

from django.db import migrations


def tell_live(apps, schema_editor):
    runs = apps.get_model("benchmarks_app", "Run").objects.using(schema_editor.connection.alias)
    runs.filter(kind="uploaded", live_run__isnull=False).update(kind="live")


def tell_uploaded(apps, schema_editor):
    runs = apps.get_model("benchmarks_app", "Run").objects.using(schema_editor.connection.alias)
    runs.filter(kind="live").update(kind="uploaded")


class Migration(migrations.Migration):
    dependencies = [
        ("benchmarks_app", "0011_run_kind_live"),
        ("scoring", "0007_retrieval_in_shards"),
    ]
    operations = [migrations.RunPython(tell_live, tell_uploaded)]
