"""Forms of the shared nouns: they validate, and leave writing to the services."""
