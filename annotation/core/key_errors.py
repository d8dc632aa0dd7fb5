"""What may go wrong with a person's own keys.

AnnotationError
└── KeysClashError           one key for two actions
"""

from annotation.core.errors import AnnotationError


class KeysClashError(AnnotationError):
    code = "keys-clash"
    message = (
        "“{key}” would do two things: “{first}” and “{second}”. Choose another key for one of them."
    )
