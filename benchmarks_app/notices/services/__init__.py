"""Webhooks kept, notices signed and sent."""
