"""Campaigns: judges that are models, asked about documents of a pool.

What they say goes into the ledger beside people's labels, never into a person's slot, and is read
by who asks for machines by name.
"""
