"""What a policy was rehearsed on, and rehearsals of contents that are no policy yet."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


def lift(apps, schema_editor):
    """SQLite drops no column that a trigger names; `post_migrate` puts the triggers back."""
    from benchmarks_app.triggers import lift_triggers

    lift_triggers(schema_editor.connection.alias)


class Migration(migrations.Migration):

    dependencies = [
        ('benchmarks_app', '0012_qrel_set_unlisted'),
        ('scoring', '0008_kind_of_live_runs'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='gatepolicy',
            name='rehearsal',
            field=models.JSONField(blank=True, default=dict),
        ),
        migrations.CreateModel(
            name='GateRehearsal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120)),
                ('content', models.JSONField()),
                ('digest', models.CharField(max_length=64)),
                ('seed', models.PositiveIntegerField(default=0)),
                ('state', models.CharField(choices=[('queued', 'queued'), ('done', 'done'), ('failed', 'failed')], default='queued', max_length=16)),
                ('result', models.JSONField(blank=True, default=dict)),
                ('error', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('baseline', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='rehearsed_as_baseline', to='benchmarks_app.run')),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='gate_rehearsals', to='benchmarks_app.benchmark')),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='gate_rehearsals', to=settings.AUTH_USER_MODEL)),
                ('job', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='gate_rehearsals', to='benchmarks_app.job')),
                ('lexical', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='rehearsed_as_lexical', to='benchmarks_app.run')),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='gate_rehearsals', to='benchmarks_app.release')),
                ('runs', models.ManyToManyField(related_name='gate_rehearsals', to='benchmarks_app.run')),
            ],
            options={
                'indexes': [models.Index(fields=['benchmark', 'digest'], name='gate_rehearsal_by_digest')],
            },
        ),
        migrations.RunPython(migrations.RunPython.noop, lift),
    ]
