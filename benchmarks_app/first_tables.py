"""The tables of a new site: made at once, as all migrations one after the other would leave them.

Django builds every model anew for each operation of each migration, a dozen seconds of a first
start. On an empty database only what they end with counts: there is no row they could change.
"""

from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor


def bring_up_to_date() -> None:
    """Give the database every table and trigger of this version, whatever it has so far."""
    # It begins with `make_tables`; receivers of `post_migrate`, of triggers and such, come after.
    call_command("migrate", verbosity=0)


def make_tables() -> bool:
    """Make all tables where there is none, and write the migrations down as applied.

    False, and nothing is done, where the database has a table already.
    """
    if connection.introspection.table_names():
        return False
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    models = executor.loader.project_state().apps.get_models()
    with connection.schema_editor(atomic=True) as editor:
        for model in models:
            if model._meta.can_migrate(connection):
                editor.create_model(model)
        executor.recorder.ensure_schema()
        for migration, _ in plan:
            executor.recorder.record_applied(migration.app_label, migration.name)
    return True
