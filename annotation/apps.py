from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AnnotationConfig(AppConfig):
    name = "annotation"
    verbose_name = "Annotation"

    def ready(self) -> None:
        from annotation import label_facts, leaving, overview, release_facts  # noqa: F401  # register
        from annotation.selectors import people  # noqa: F401  # registers what is known of a person
        from annotation.services import pool_run_names  # noqa: F401  # registers what follows runs
        from benchmarks_app.triggers import install_triggers

        post_migrate.connect(install_triggers, sender=self)
