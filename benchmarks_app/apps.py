from django.apps import AppConfig
from django.core.signals import request_finished
from django.db.models.signals import post_migrate, pre_migrate


class BenchmarksConfig(AppConfig):
    name = "benchmarks_app"
    verbose_name = "Benchmarks"

    def ready(self) -> None:
        from benchmarks_app import celery, checks, listeners  # noqa: F401  # the queue; what registers
        from benchmarks_app.common.selectors import people  # noqa: F401  # what is kept
        from benchmarks_app.store import release_files
        from benchmarks_app.triggers import install_triggers, lift_change_triggers

        pre_migrate.connect(lift_change_triggers, sender=self)
        post_migrate.connect(install_triggers, sender=self)
        request_finished.connect(release_files)
