"""Past judgments get the pool and purpose of their slots; past pools the labels they want."""

from django.db import migrations
from django.db.models import Count, OuterRef, Q, Subquery


def fill(apps, schema_editor):
    from benchmarks_app.triggers import lift_triggers

    judgment = apps.get_model("annotation", "Judgment")
    slot = apps.get_model("annotation", "Slot")
    pool = apps.get_model("annotation", "Pool")
    past = judgment.objects.filter(slot__isnull=False, pool=None)
    if past.exists():
        # The only change the ledger ever sees; `post_migrate` puts the triggers back.
        lift_triggers(schema_editor.connection.alias)
        of_slot = slot.objects.filter(pk=OuterRef("slot"))
        past.update(
            pool=Subquery(of_slot.values("pool")[:1]), purpose=Subquery(of_slot.values("kind")[:1])
        )
    for one in pool.objects.annotate(n=Count("slots", filter=Q(slots__kind="label"))):
        pool.objects.filter(pk=one.pk).update(n_wanted=one.n)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0003_sharing_quality_and_questions")]
    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
