from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0012_grade_examples"),
    ]

    operations = [
        migrations.AddField(
            model_name="pool",
            name="shows_machine",
            field=models.BooleanField(default=False),
        ),
    ]
