"""What a release is made of beside its grades: differences, card, citation, changelog."""
