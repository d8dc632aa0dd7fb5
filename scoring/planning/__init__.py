"""What queries can show, what more labels would, and whether those that are there still hold."""
