import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("benchmarks_app", "0005_logs_awaiting_their_columns"),
    ]

    operations = [
        migrations.AddField(
            model_name="release",
            name="successor",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="replaces",
                to="benchmarks_app.release",
            ),
        ),
    ]
