"""Who judges in a benchmark no more gives back what they hold there, and what waits for them."""

from typing import Any

from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

from annotation.judging.services.claiming import release_all_slots
from benchmarks_app.models import Membership, User
from benchmarks_app.permissions import ALLOWED, Action


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
