"""What the other rooms share: ledger and pools as they are read, and the rule of qrels."""
