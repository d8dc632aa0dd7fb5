"""What a sign-in through the provider writes: the account, and what its groups give."""
