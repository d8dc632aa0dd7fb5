from django.apps import AppConfig
from django.db.models.signals import post_migrate


class BenchmarksConfig(AppConfig):
    name = "benchmarks_app"
    verbose_name = "Benchmarks"

    def ready(self) -> None:
        from benchmarks_app import celery, steps  # noqa: F401  # the queue; this app's steps
        from benchmarks_app.selectors import stored_files  # noqa: F401  # what is kept
        from benchmarks_app.triggers import install_triggers

        post_migrate.connect(install_triggers, sender=self)
