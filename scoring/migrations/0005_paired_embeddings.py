from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('scoring', '0004_live_systems'),
    ]

    operations = []
