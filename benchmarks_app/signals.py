"""What apps above may listen to."""

from django.dispatch import Signal

# Sent with `release`, in the transaction that publishes it: what follows is written with it.
release_published = Signal()
# Sent with `benchmark` and `people` (by username) when the demo has its release and its scores:
# each app adds what its pages show. Sent again where an attempt was interrupted.
demo_built = Signal()
# Sent with `version` and `user`, in the transaction that takes this version of a corpus.
corpus_taken = Signal()
