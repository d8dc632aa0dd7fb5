"""Wordings of one need, grouped and reviewed."""
