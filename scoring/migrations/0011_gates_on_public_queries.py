"""Gates on public queries alone, beside those of keepers on all queries."""

from django.conf import settings
from django.db import migrations, models


def lift(apps, schema_editor):
    """SQLite drops no column that a trigger names; `post_migrate` puts the triggers back."""
    from benchmarks_app.triggers import lift_triggers

    lift_triggers(schema_editor.connection.alias)


class Migration(migrations.Migration):

    dependencies = [
        ('benchmarks_app', '0018_membership_is_blindness_lifted'),
        ('scoring', '0010_more_probing_flags'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='gateresult',
            name='gate_result_once',
        ),
        migrations.AddField(
            model_name='gaterehearsal',
            name='is_public',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='gateresult',
            name='is_public',
            field=models.BooleanField(default=False),
        ),
        migrations.AddConstraint(
            model_name='gateresult',
            constraint=models.UniqueConstraint(fields=('policy', 'release', 'candidate', 'is_public'), name='gate_result_once'),
        ),
        migrations.RunPython(migrations.RunPython.noop, lift),
    ]
