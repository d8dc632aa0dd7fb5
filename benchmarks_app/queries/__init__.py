"""Queries and documents as pages show them."""
