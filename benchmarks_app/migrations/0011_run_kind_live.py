from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('benchmarks_app', '0010_ties_of_32_bits'),
    ]

    operations = [
        migrations.AlterField(
            model_name='run',
            name='kind',
            field=models.CharField(choices=[('uploaded', 'Uploaded'), ('submitted', 'Submitted'), ('baseline', 'Baseline'), ('live', 'Live')], default='uploaded', max_length=16),
        ),
    ]
