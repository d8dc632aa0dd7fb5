import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('benchmarks_app', '0010_ties_of_32_bits'),
        ('scoring', '0006_contextual_precision'),
    ]

    operations = [
        migrations.AddField(
            model_name='reportedscore',
            name='note',
            field=models.CharField(blank=True, max_length=500),
        ),
        migrations.AddField(
            model_name='reportedscore',
            name='run',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='reported_scores', to='benchmarks_app.run'),
        ),
        migrations.AddConstraint(
            model_name='reportedscore',
            constraint=models.CheckConstraint(condition=models.Q(('source', ''), _negated=True), name='reported_score_has_source'),
        ),
        migrations.CreateModel(
            name='Retrieval',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('system', models.CharField(max_length=40)),
                ('language', models.CharField(max_length=35)),
                ('depth', models.PositiveIntegerField()),
                ('n_queries', models.PositiveIntegerField()),
                ('n_shards', models.PositiveSmallIntegerField(default=1)),
                ('indexing_seconds', models.FloatField()),
                ('memory_bytes', models.PositiveBigIntegerField(blank=True, null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('corpus_version', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='retrievals', to='benchmarks_app.corpusversion')),
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='retrieval', to='benchmarks_app.run')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('depth__gte', 1)), name='retrieval_depth_from_1'), models.CheckConstraint(condition=models.Q(('n_shards__gte', 1)), name='retrieval_shards_from_1'), models.CheckConstraint(condition=models.Q(('indexing_seconds__gte', 0)), name='retrieval_took_no_less_than_nothing')],
            },
        ),
        migrations.CreateModel(
            name='ShardJob',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('turn', models.UUIDField()),
                ('step', models.CharField(choices=[('count', 'count'), ('statistics', 'add up the counts'), ('search', 'search'), ('merge', 'merge')], max_length=12)),
                ('number', models.PositiveSmallIntegerField(default=0)),
                ('job', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='shard_of', to='benchmarks_app.job')),
                ('parent', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='shard_jobs', to='benchmarks_app.job')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('parent', 'turn', 'step', 'number'), name='shard_job_once'), models.CheckConstraint(condition=models.Q(('parent', models.F('job')), _negated=True), name='shard_job_not_its_own_parent')],
            },
        ),
    ]
