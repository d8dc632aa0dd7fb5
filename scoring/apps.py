from django.apps import AppConfig
from django.db.models.signals import post_migrate


class ScoringConfig(AppConfig):
    name = "scoring"
    verbose_name = "Scoring"

    def ready(self) -> None:
        from benchmarks_app.releases.services.declaring import READERS
        from benchmarks_app.signals import demo_built, release_published
        from benchmarks_app.triggers import install_triggers
        from scoring import (  # noqa: F401  # register what is kept
            notice_facts,
            people,
            result_facts,
            stored_files,
        )
        from scoring.listeners import furnish_demo, open_and_score
        from scoring.scores.shown import declarable

        release_published.connect(open_and_score, dispatch_uid="scoring.open_and_score")
        demo_built.connect(furnish_demo, dispatch_uid="scoring.furnish_demo")
        READERS[:] = [declarable]
        post_migrate.connect(install_triggers, sender=self)
