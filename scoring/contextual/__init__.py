"""Contextual precision on the site: cases, judges, evaluations and their costs."""
