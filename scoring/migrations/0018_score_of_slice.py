import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("scoring", "0017_online_result_from_log")]

    operations = [
        # First the new one: a site at work finds scores by one of them.
        migrations.AddIndex(
            model_name="score",
            index=models.Index(fields=["score_set", "slice_name"], name="score_of_slice"),
        ),
        migrations.AlterField(
            model_name="score",
            name="score_set",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="scores",
                to="scoring.scoreset",
            ),
        ),
    ]
