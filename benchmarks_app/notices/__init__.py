"""Telling others what happened: webhooks of a benchmark, mails of a person, and what came back.

`common.services.happening` writes what is to be told; here it is sent, shown and chosen.
"""
