"""Judges become a shared noun. Whose model they are changes; their table and its rows stay."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("benchmarks_app", "0022_corpus_line_breaks"),
        # Made the table; whatever points to judges from here on needs it.
        ("scoring", "0012_ladder_steps"),
    ]
    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name='JudgeEndpoint',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('name', models.CharField(max_length=120)),
                        ('base_url', models.CharField(max_length=500)),
                        ('model', models.CharField(max_length=200)),
                        ('key_variable', models.CharField(blank=True, max_length=120)),
                        ('key_sealed', models.TextField(blank=True)),
                        ('price_in', models.FloatField(blank=True, null=True)),
                        ('price_out', models.FloatField(blank=True, null=True)),
                        ('concurrency', models.PositiveSmallIntegerField(default=8)),
                        ('requests_per_minute', models.PositiveIntegerField(blank=True, null=True)),
                        ('timeout_seconds', models.PositiveSmallIntegerField(default=60)),
                        ('max_attempts', models.PositiveSmallIntegerField(default=4)),
                        ('answer_format', models.CharField(blank=True, max_length=16)),
                        ('trial', models.JSONField(blank=True, default=dict)),
                        ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                        ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='judges', to='benchmarks_app.benchmark')),
                        ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='judges', to=settings.AUTH_USER_MODEL)),
                        ('trial_job', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='benchmarks_app.job')),
                    ],
                    options={
                        'db_table': 'scoring_judgeendpoint',
                        'constraints': [models.UniqueConstraint(fields=('benchmark', 'name'), name='judge_name_once'), models.CheckConstraint(condition=models.Q(('key_variable', ''), ('key_sealed', ''), _connector='OR'), name='judge_one_key'), models.CheckConstraint(condition=models.Q(('concurrency__gte', 1), ('concurrency__lte', 64)), name='judge_concurrency_1_to_64'), models.CheckConstraint(condition=models.Q(('timeout_seconds__gte', 1)), name='judge_timeout_from_1'), models.CheckConstraint(condition=models.Q(('requests_per_minute', None), ('requests_per_minute__gte', 1), _connector='OR'), name='judge_rate_from_1'), models.CheckConstraint(condition=models.Q(models.Q(('price_in', None), ('price_in__gte', 0), _connector='OR'), models.Q(('price_out', None), ('price_out__gte', 0), _connector='OR')), name='judge_prices_from_0')],
                    },
                ),
            ],
        ),
    ]
