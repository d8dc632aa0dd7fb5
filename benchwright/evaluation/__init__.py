"""A model asked for results over a released benchmark, and scored."""
