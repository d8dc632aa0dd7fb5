from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("benchmarks_app", "0006_release_successor")]

    operations = [
        migrations.AddField(
            model_name="upload",
            name="is_waiting",
            field=models.BooleanField(default=False),
        ),
    ]
