"""A place of a pool may be filled by somebody whom a file names and who has no account."""

import django.db.models.deletion
from django.conf import settings
from django.db import connection, migrations, models


def name_raters(apps, schema_editor):
    """Places that the importer seems to have filled are those of the raters whom the file named."""
    judgment = apps.get_model("annotation", "Judgment")
    slot = apps.get_model("annotation", "Slot")
    named = judgment.objects.filter(kind="import", superseded_by=None, slot__state="done")
    for pk, rater in list(named.exclude(rater="").order_by("pk").values_list("slot", "rater")):
        # Whoever filled it: another may have imported the rater's label again since.
        slot.objects.filter(pk=pk, state="done").update(annotator=None, rater=rater)


def name_importers(apps, schema_editor):
    """The way back: a place belongs to who imported its label, or, of several, comes free."""
    judgment = apps.get_model("annotation", "Judgment")
    slot = apps.get_model("annotation", "Slot")
    for one in list(slot.objects.exclude(rater="").order_by("pk")):
        label = judgment.objects.filter(slot=one, superseded_by=None).first()
        others = slot.objects.filter(entry=one.entry, kind=one.kind, round=one.round)
        is_free = label is None or others.filter(annotator=label.actor).exists()
        slot.objects.filter(pk=one.pk).update(
            rater="",
            annotator=None if is_free else label.actor,
            state="free" if is_free else "done",
        )
    if connection.vendor == "postgresql":
        # No check may wait for the end where the table is altered next.
        connection.cursor().execute("SET CONSTRAINTS ALL IMMEDIATE")


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0004_pool_of_past_judgments'),
        ('benchmarks_app', '0011_run_kind_live'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='slot',
            name='slot_state_has_person',
        ),
        migrations.AddField(
            model_name='judgment',
            name='entered_by',
            field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='slot',
            name='rater',
            field=models.CharField(blank=True, max_length=120),
        ),
        migrations.RunPython(name_raters, name_importers),
        migrations.AddConstraint(
            model_name='slot',
            constraint=models.UniqueConstraint(condition=models.Q(('rater', ''), _negated=True), fields=('entry', 'rater', 'kind', 'round'), name='slot_once_per_rater'),
        ),
        migrations.AddConstraint(
            model_name='slot',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('annotator', None), ('rater', ''), ('state__in', ['free', 'waived'])), models.Q(('annotator__isnull', False), ('lease_expires_at__isnull', False), ('rater', ''), ('state', 'claimed')), models.Q(('annotator__isnull', False), ('rater', ''), ('state__in', ['done', 'aside'])), models.Q(('annotator', None), ('state', 'done'), models.Q(('rater', ''), _negated=True)), _connector='OR'), name='slot_state_has_person'),
        ),
    ]
