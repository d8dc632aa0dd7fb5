from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('scoring', '0006_contextual_precision'),
    ]

    operations = []
