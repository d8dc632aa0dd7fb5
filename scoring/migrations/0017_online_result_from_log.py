from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("scoring", "0016_verdicts_of_people"),
    ]

    operations = [
        migrations.AddField(
            model_name="onlineresult",
            name="from_log",
            field=models.JSONField(blank=True, default=dict),
        ),
    ]
