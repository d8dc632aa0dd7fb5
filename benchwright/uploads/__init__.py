"""What uploaded files are, told before anything of them is imported.

All of it runs apart (`sandbox`): the readers are `look_at`, `completed_parts` and
`parts_to_import`, whose answers are `Looks` and `Part`s; `row_streams` has those that an import
asks.
"""

from benchwright.uploads.looking import look_at
from benchwright.uploads.looks import Look, Looks, Place, input_at, is_collection
from benchwright.uploads.parts import completed_parts, guessed_part, parts_to_import

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
