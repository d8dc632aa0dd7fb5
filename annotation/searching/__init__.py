"""Looking for what systems missed: a search over the corpus beside a query, graded in place."""
