"""How the process of a command ends where nothing was decided: interrupted, or nobody reads on."""

INTERRUPTED, NO_READER = 130, 141
