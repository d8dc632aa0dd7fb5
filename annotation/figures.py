"""What an operator sees of judging: how many labels there are, how many documents are held."""

from collections.abc import Iterator

from django.db.models import Max

from annotation.models import Judgment, Pool, Slot
from benchmarks_app.operating.counted import Figure, counts


@counts
def judging() -> Iterator[Figure]:
    # The newest number, which is had at once, where rows would have to be counted.
    newest = Judgment.events.aggregate(newest=Max("pk"))["newest"] or 0
    yield Figure("benchwright_ledger_events", "Events of the ledger, ever.", newest)
    leases = Slot.objects.filter(pool__state=Pool.State.OPEN, state=Slot.State.CLAIMED)
    yield Figure("benchwright_leases", "Documents that people hold.", leases.count())
    n = Pool.objects.open().count()
    yield Figure("benchwright_open_pools", "Pools that are being judged.", n)
