"""Signing in through a provider that speaks OpenID Connect, and roles by its groups (ADR 52).

`provider` is what the operator says of it, `client` the talk with it, which is Authlib's. Services
find or make the account and let its roles follow the groups; views lead there and back.
"""
