import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('benchmarks_app', '0010_ties_of_32_bits'),
        ('scoring', '0005_paired_embeddings'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='CaseSet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120)),
                ('file_name', models.CharField(max_length=255)),
                ('sha256', models.CharField(max_length=64)),
                ('n_cases', models.PositiveIntegerField()),
                ('n_nodes', models.PositiveIntegerField()),
                ('n_images', models.PositiveIntegerField(default=0)),
                ('slices', models.JSONField(blank=True, default=dict)),
                ('notes', models.JSONField(blank=True, default=list)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('is_ready', models.BooleanField(default=False)),
                ('staged_by', models.PositiveBigIntegerField(blank=True, db_index=True, null=True)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='case_sets', to='benchmarks_app.benchmark')),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='case_sets', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('benchmark', 'name'), name='case_set_name_once'),
                    models.CheckConstraint(condition=models.Q(('n_cases__gte', 1)), name='case_set_not_empty'),
                ],
            },
        ),
        migrations.CreateModel(
            name='CaseImage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=255)),
                ('stored', models.CharField(max_length=255)),
                ('sha256', models.CharField(max_length=64)),
                ('media_type', models.CharField(max_length=32)),
                ('width', models.PositiveIntegerField()),
                ('height', models.PositiveIntegerField()),
                ('size', models.PositiveIntegerField()),
                ('case_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='images', to='scoring.caseset')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('case_set', 'name'), name='case_image_name_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='ContextualCase',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('case_id', models.CharField(max_length=512)),
                ('content', models.JSONField()),
                ('slices', models.JSONField(blank=True, default=list)),
                ('n_nodes', models.PositiveIntegerField()),
                ('n_bytes', models.PositiveIntegerField()),
                ('n_images', models.PositiveIntegerField(default=0)),
                ('case_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='cases', to='scoring.caseset')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('case_set', 'number'), name='case_number_once'),
                    models.UniqueConstraint(fields=('case_set', 'case_id'), name='case_id_once'),
                    models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='case_number_from_1'),
                ],
            },
        ),
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
                'constraints': [
                    models.UniqueConstraint(fields=('benchmark', 'name'), name='judge_name_once'),
                    models.CheckConstraint(condition=models.Q(('key_variable', ''), ('key_sealed', ''), _connector='OR'), name='judge_one_key'),
                    models.CheckConstraint(condition=models.Q(('concurrency__gte', 1), ('concurrency__lte', 64)), name='judge_concurrency_1_to_64'),
                    models.CheckConstraint(condition=models.Q(('timeout_seconds__gte', 1)), name='judge_timeout_from_1'),
                    models.CheckConstraint(condition=models.Q(('requests_per_minute', None), ('requests_per_minute__gte', 1), _connector='OR'), name='judge_rate_from_1'),
                    models.CheckConstraint(condition=models.Q(models.Q(('price_in', None), ('price_in__gte', 0), _connector='OR'), models.Q(('price_out', None), ('price_out__gte', 0), _connector='OR')), name='judge_prices_from_0'),
                ],
            },
        ),
        migrations.CreateModel(
            name='ContextualEvaluation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('judge_name', models.CharField(max_length=120)),
                ('model', models.CharField(max_length=200)),
                ('price_in', models.FloatField(blank=True, null=True)),
                ('price_out', models.FloatField(blank=True, null=True)),
                ('threshold', models.FloatField(blank=True, null=True)),
                ('is_strict', models.BooleanField(default=False)),
                ('has_reasons', models.BooleanField(default=True)),
                ('only_slice', models.CharField(blank=True, max_length=200)),
                ('only_first', models.PositiveIntegerField(blank=True, null=True)),
                ('prompt_hash', models.CharField(blank=True, max_length=64)),
                ('cost_cap', models.FloatField(blank=True, null=True)),
                ('n_cases', models.PositiveIntegerField(default=0)),
                ('n_scored', models.PositiveIntegerField(default=0)),
                ('n_failed', models.PositiveIntegerField(default=0)),
                ('n_success', models.PositiveIntegerField(default=0)),
                ('mean', models.FloatField(blank=True, null=True)),
                ('tokens_in', models.PositiveBigIntegerField(default=0)),
                ('tokens_out', models.PositiveBigIntegerField(default=0)),
                ('cost', models.FloatField(default=0)),
                ('state', models.CharField(choices=[('queued', 'queued'), ('running', 'running'), ('done', 'done'), ('capped', 'stopped at the cost limit'), ('cancelled', 'cancelled'), ('failed', 'failed')], default='queued', max_length=16)),
                ('error', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('case_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='evaluations', to='scoring.caseset')),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='contextual_evaluations', to=settings.AUTH_USER_MODEL)),
                ('job', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='contextual_evaluations', to='benchmarks_app.job')),
                ('endpoint', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='evaluations', to='scoring.judgeendpoint')),
            ],
            options={
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('threshold', None), models.Q(('threshold__gte', 0), ('threshold__lte', 1)), _connector='OR'), name='contextual_threshold_0_to_1'),
                    models.CheckConstraint(condition=models.Q(('cost_cap', None), ('cost_cap__gt', 0), _connector='OR'), name='contextual_cap_above_0'),
                    models.CheckConstraint(condition=models.Q(('only_slice', ''), ('only_first', None), _connector='OR'), name='contextual_one_choice'),
                ],
            },
        ),
        migrations.CreateModel(
            name='CaseOutcome',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('waiting', 'waiting'), ('scored', 'scored'), ('failed', 'failed')], default='waiting', max_length=8)),
                ('score', models.FloatField(blank=True, null=True)),
                ('is_success', models.BooleanField(blank=True, null=True)),
                ('verdicts', models.JSONField(blank=True, default=list)),
                ('reason', models.TextField(blank=True)),
                ('error_code', models.CharField(blank=True, max_length=60)),
                ('error', models.TextField(blank=True)),
                ('tokens_in', models.PositiveBigIntegerField(default=0)),
                ('tokens_out', models.PositiveBigIntegerField(default=0)),
                ('cost', models.FloatField(default=0)),
                ('seconds', models.FloatField(default=0)),
                ('n_calls', models.PositiveIntegerField(default=0)),
                ('answers', models.JSONField(blank=True, default=list)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('case', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='outcomes', to='scoring.contextualcase')),
                ('evaluation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='outcomes', to='scoring.contextualevaluation')),
            ],
            options={
                'indexes': [
                    models.Index(fields=['evaluation', 'state', 'score'], name='outcome_by_score'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('evaluation', 'case'), name='outcome_once'),
                    models.CheckConstraint(condition=models.Q(models.Q(('score__gte', 0), ('score__isnull', False), ('score__lte', 1), ('state', 'scored')), models.Q(models.Q(('state', 'scored'), _negated=True), ('score', None)), _connector='OR'), name='outcome_score_if_scored'),
                    models.CheckConstraint(condition=models.Q(models.Q(('state', 'failed'), _negated=True), models.Q(('error_code', ''), _negated=True), _connector='OR'), name='outcome_failed_says_why'),
                ],
            },
        ),
    ]
