"""Judges: models behind an address, their keys and prices, shared by whatever asks them."""
