from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('scoring', '0003_submissions_gates_and_reports'),
    ]

    operations = []
