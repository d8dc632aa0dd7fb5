"""What apps above may listen to."""

from django.dispatch import Signal

# Sent with `release`, in the transaction that publishes it: what follows is written with it.
release_published = Signal()
