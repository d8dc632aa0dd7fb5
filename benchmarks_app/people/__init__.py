"""Accounts, second factors, teams, invitations, and what is forgotten of who leaves."""
