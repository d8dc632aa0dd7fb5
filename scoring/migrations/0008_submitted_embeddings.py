from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('scoring', '0007_retrieval_in_shards'),
    ]

    operations = []
