import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('benchmarks_app', '0010_ties_of_32_bits'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('scoring', '0003_submissions_gates_and_reports'),
    ]

    operations = [
        migrations.CreateModel(
            name='LiveSystem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120)),
                ('description', models.TextField(blank=True)),
                ('kind', models.CharField(choices=[('opensearch', 'OpenSearch or Elasticsearch'), ('json', 'other JSON')], max_length=16)),
                ('url', models.CharField(max_length=500)),
                ('method', models.CharField(choices=[('POST', 'Post'), ('GET', 'Get')], default='POST', max_length=4)),
                ('template', models.TextField()),
                ('headers', models.TextField(blank=True)),
                ('results_path', models.CharField(max_length=200)),
                ('id_path', models.CharField(max_length=200)),
                ('score_path', models.CharField(blank=True, max_length=200)),
                ('k', models.PositiveIntegerField(default=100)),
                ('requests_per_second', models.FloatField(default=10.0)),
                ('concurrency', models.PositiveSmallIntegerField(default=4)),
                ('timeout_seconds', models.FloatField(default=10.0)),
                ('retries', models.PositiveSmallIntegerField(default=3)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('changed_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('tried_at', models.DateTimeField(blank=True, null=True)),
                ('tried_well', models.BooleanField(default=False)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='live_systems', to='benchmarks_app.benchmark')),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='live_systems', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['name'],
                'constraints': [
                    models.UniqueConstraint(fields=('benchmark', 'name'), name='live_system_name_once'),
                    models.CheckConstraint(condition=models.Q(('concurrency__gte', 1), ('k__gte', 1)), name='live_system_asks_for_something'),
                    models.CheckConstraint(condition=models.Q(('requests_per_second__gt', 0), ('timeout_seconds__gt', 0)), name='live_system_moves_on'),
                ],
            },
        ),
        migrations.CreateModel(
            name='LiveRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('asked_as', models.JSONField(default=dict)),
                ('n_asked', models.PositiveIntegerField()),
                ('n_failed', models.PositiveIntegerField(default=0)),
                ('n_empty', models.PositiveIntegerField(default=0)),
                ('n_repeated', models.PositiveIntegerField(default=0)),
                ('n_unknown', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('job', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='live_runs', to='benchmarks_app.job')),
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='live_run', to='benchmarks_app.run')),
                ('system', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='live_runs', to='scoring.livesystem')),
            ],
            options={
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('n_failed__lt', models.F('n_asked'))), name='live_run_was_answered'),
                ],
            },
        ),
        migrations.CreateModel(
            name='RunLatencies',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.CharField(choices=[('live', 'asked of a search endpoint, network included'), ('here', 'retrieved by this site')], max_length=8)),
                ('stored', models.CharField(max_length=255)),
                ('n_queries', models.PositiveIntegerField()),
                ('mean', models.FloatField()),
                ('p50', models.FloatField()),
                ('p95', models.FloatField()),
                ('p99', models.FloatField()),
                ('longest', models.FloatField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='latencies', to='benchmarks_app.run')),
            ],
            options={
                'verbose_name_plural': 'run latencies',
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('n_queries__gte', 1), ('p50__gte', 0), ('p95__gte', models.F('p50'))), name='run_latencies_in_order'),
                ],
            },
        ),
    ]
