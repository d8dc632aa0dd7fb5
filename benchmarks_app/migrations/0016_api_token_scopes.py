"""Tokens that were made before there were scopes keep all of what they were good for."""

from django.db import migrations, models


def every_scope():
    return ["read", "submit", "judge", "manage"]


class Migration(migrations.Migration):
    dependencies = [("benchmarks_app", "0015_store_check")]
    operations = [
        migrations.AddField("apitoken", "scopes", models.JSONField(default=every_scope)),
        migrations.AlterField("apitoken", "scopes", models.JSONField(default=list)),
    ]
