"""Backups that are verified and restored, and stored files held against their digests."""
