"""What apps above may listen to."""

from django.dispatch import Signal

# Sent with `release`, after the commit that published it.
release_published = Signal()
