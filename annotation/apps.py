from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AnnotationConfig(AppConfig):
    name = "annotation"
    verbose_name = "Annotation"

    def ready(self) -> None:
        from annotation import overview, release_facts  # noqa: F401  # register steps and facts
        from benchmarks_app.triggers import install_triggers

        post_migrate.connect(install_triggers, sender=self)
