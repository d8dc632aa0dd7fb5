"""Policies, and candidates held against them: ship, hold or block."""
