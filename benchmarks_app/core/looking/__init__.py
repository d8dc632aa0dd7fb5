"""What uploaded files are, told before anything of them is imported.

All of it runs apart (`core.apart`): the readers are `look_at`, `completed_parts` and
`parts_to_import`, whose answers are `Looks` and `Part`s; `row_streams` and `runs` have those that
an import asks.
"""

from benchmarks_app.core.looking.looking import look_at
from benchmarks_app.core.looking.looks import Look, Looks
from benchmarks_app.core.looking.parts import completed_parts, guessed_part, parts_to_import
from benchmarks_app.core.looking.places import Place, input_at, is_collection

__all__ = [
    "Look",
    "Looks",
    "Place",
    "completed_parts",
    "guessed_part",
    "input_at",
    "is_collection",
    "look_at",
    "parts_to_import",
]
