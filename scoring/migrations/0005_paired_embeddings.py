import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('benchmarks_app', '0010_ties_of_32_bits'),
        ('scoring', '0004_live_systems'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='EmbeddingPair',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120)),
                ('description', models.TextField(blank=True)),
                ('visibility', models.CharField(choices=[('owner', 'only me'), ('team', 'my team'), ('benchmark', 'everyone who sees the benchmark')], default='benchmark', max_length=16)),
                ('normalize', models.BooleanField(default=True)),
                ('ties', models.CharField(choices=[('expected', 'expected: the mean over their orders'), ('optimistic', 'optimistic: the partner first'), ('pessimistic', 'pessimistic: the partner last')], default='expected', max_length=12)),
                ('takes_own_slices', models.BooleanField(default=False)),
                ('files', models.JSONField(default=dict)),
                ('n_pairs', models.PositiveIntegerField(blank=True, null=True)),
                ('n_features', models.PositiveIntegerField(blank=True, null=True)),
                ('report', models.JSONField(blank=True, default=dict)),
                ('places', models.CharField(blank=True, max_length=255)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('measured_at', models.DateTimeField(blank=True, null=True)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='embedding_pairs', to='benchmarks_app.benchmark')),
                ('job', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='embedding_pairs', to='benchmarks_app.job')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='embedding_pairs', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='embedding_pairs', to='benchmarks_app.team')),
            ],
            options={
                'indexes': [models.Index(fields=['benchmark', '-created_at'], name='embedding_pair_by_benchmark')],
                'constraints': [models.UniqueConstraint(fields=('benchmark', 'name'), name='embedding_pair_name_once'), models.CheckConstraint(condition=models.Q(('measured_at', None), models.Q(('n_pairs__gte', 1), ('n_features__isnull', False), models.Q(('places', ''), _negated=True)), _connector='OR'), name='embedding_pair_measured_has_numbers')],
            },
        ),
    ]
