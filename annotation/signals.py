"""What this app tells of itself, in the transaction in which it happens."""

from django.dispatch import Signal

# A pool was opened, paused or closed: `pool`, locked, and `actor`.
pool_state_set = Signal()
