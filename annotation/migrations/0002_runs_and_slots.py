"""What linked the first nouns is part of them; databases that have taken this step keep its name."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("annotation", "0001_first_nouns")]
    operations = []
