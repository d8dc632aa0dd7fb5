from django.db import migrations

# Free places of a query change hands among themselves; what is held or judged keeps its own.
SHUFFLE = """
WITH free AS (
    SELECT id, queue_position, pool_id, query_id, number, round,
        row_number() OVER (PARTITION BY pool_id, query_id, number, round
            ORDER BY queue_position) AS place,
        row_number() OVER (PARTITION BY pool_id, query_id, number, round
            ORDER BY random()) AS drawn
    FROM annotation_slot WHERE state = 'free' AND kind = 'label'
), moved AS (
    SELECT a.id, b.queue_position FROM free a JOIN free b
        ON a.pool_id = b.pool_id AND a.query_id = b.query_id AND a.number = b.number
        AND a.round = b.round AND a.drawn = b.place
)
UPDATE annotation_slot SET queue_position = moved.queue_position
FROM moved WHERE annotation_slot.id = moved.id
"""


class Migration(migrations.Migration):
    """Places in the queue were those of ranks, which told them to people who judge."""

    dependencies = [("annotation", "0006_leases_and_extra_labels")]

    operations = [migrations.RunSQL(SHUFFLE, migrations.RunSQL.noop)]
