"""Endpoints of judging: candidates, the exchange of claims and grades, and one's own work."""
