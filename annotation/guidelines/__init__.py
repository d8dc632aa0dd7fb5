"""The guideline with its versions, and what annotators ask about documents."""
