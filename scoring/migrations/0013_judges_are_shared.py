"""Judges are a shared noun now, in the table that they had here."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("benchmarks_app", "0023_judges_are_shared"),
        ("scoring", "0012_ladder_steps"),
    ]
    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="contextualevaluation",
                    name="endpoint",
                    field=models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="evaluations",
                        to="benchmarks_app.judgeendpoint",
                    ),
                ),
                migrations.DeleteModel(name="JudgeEndpoint"),
            ],
        ),
    ]
