from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('scoring', '0005_paired_embeddings'),
    ]

    operations = []
