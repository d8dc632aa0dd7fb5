"""How far people agree, and what becomes of documents where they do not.

Agreement is measured on the labels of the ledger, whole and by slice. What people see differently
waits in an inbox, the most consequential first, until an adjudicator says what holds.
"""
