"""What is set aside has an end; extra labels an index, and none that misleads planners."""

from datetime import timedelta

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.utils import timezone


ASIDE = timedelta(days=14)


def end_set_asides(apps, schema_editor):
    """What waits for an answer by now waits as long as what is set aside from now on."""
    slot = apps.get_model("annotation", "Slot")
    waiting = slot.objects.filter(state="aside", lease_expires_at=None)
    waiting.update(lease_expires_at=timezone.now() + ASIDE)


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0005_places_of_raters'),
        ('benchmarks_app', '0011_run_kind_live'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='slot',
            name='slot_state_has_person',
        ),
        migrations.RunPython(end_set_asides, migrations.RunPython.noop),
        migrations.AlterField(
            model_name='judgment',
            name='actor',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='judgments', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AlterField(
            model_name='judgment',
            name='benchmark',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='judgments', to='benchmarks_app.benchmark'),
        ),
        migrations.AlterField(
            model_name='judgment',
            name='pool',
            field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='judgments', to='annotation.pool'),
        ),
        migrations.AlterField(
            model_name='slot',
            name='pool',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='slots', to='annotation.pool'),
        ),
        migrations.AlterField(
            model_name='poolentry',
            name='pool',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='entries', to='annotation.pool'),
        ),
        migrations.AddIndex(
            model_name='judgment',
            index=models.Index(condition=models.Q(('is_surplus', True)), fields=['actor', 'query', 'docid'], name='judgment_extra'),
        ),
        migrations.AddConstraint(
            model_name='slot',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('annotator', None), ('rater', ''), ('state__in', ['free', 'waived'])), models.Q(('annotator__isnull', False), ('lease_expires_at__isnull', False), ('rater', ''), ('state', 'claimed')), models.Q(('annotator__isnull', False), ('lease_expires_at__isnull', False), ('rater', ''), ('state', 'aside')), models.Q(('annotator__isnull', False), ('rater', ''), ('state', 'done')), models.Q(('annotator', None), ('state', 'done'), models.Q(('rater', ''), _negated=True)), _connector='OR'), name='slot_state_has_person'),
        ),
    ]
