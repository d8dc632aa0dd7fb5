"""What this app does when something happens below it."""

from typing import Any

from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

from annotation.judging.services.claiming import release_all_slots
from benchmarks_app.models import Membership, User
from benchmarks_app.permissions import ALLOWED, Action


def furnish_demo(sender: Any, **facts: Any) -> None:
    """The demo gets a disagreement and a question; what makes them is loaded for nothing else."""
    from annotation.demo import furnish

    furnish(sender, **facts)


def index_corpus(sender: Any, **facts: Any) -> None:
    """A version of a corpus that was just taken is made searchable."""
    from annotation.searching.services import index_taken

    index_taken(facts["version"], facts["user"])


@receiver(post_delete, sender=Membership)
def give_back_of_former(instance: Membership, **_: Any) -> None:
    release_all_slots(instance.user_id, instance.benchmark_id)


@receiver(post_save, sender=Membership)
def give_back_of_demoted(instance: Membership, **_: Any) -> None:
    if instance.role not in ALLOWED[Action.JUDGE]:
        release_all_slots(instance.user_id, instance.benchmark_id)


@receiver(post_save, sender=User)
def give_back_of_closed(instance: User, created: bool, **_: Any) -> None:
    if not instance.is_active and not created:
        release_all_slots(instance.pk)
