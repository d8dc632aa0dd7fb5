from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AnnotationConfig(AppConfig):
    name = "annotation"
    verbose_name = "Annotation"

    def ready(self) -> None:
        from annotation import (  # noqa: F401  # register
            figures,
            label_facts,
            notice_facts,
            people,  # registers what is known of a person
            release_facts,
        )
        from annotation.listeners import furnish_demo, index_corpus
        from annotation.pools.services import run_names  # noqa: F401  # registers what follows runs
        from annotation.signals import pool_state_set
        from annotation.sparing.services import follow_pool
        from benchmarks_app.signals import corpus_taken, demo_built
        from benchmarks_app.triggers import install_triggers

        demo_built.connect(furnish_demo, dispatch_uid="annotation.furnish_demo")
        corpus_taken.connect(index_corpus, dispatch_uid="annotation.index_corpus")
        pool_state_set.connect(follow_pool, dispatch_uid="annotation.follow_pool")
        post_migrate.connect(install_triggers, sender=self)
