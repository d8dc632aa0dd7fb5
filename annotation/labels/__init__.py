"""Labels beyond the labeling page: from files, known beforehand, exported, and made into qrels."""
