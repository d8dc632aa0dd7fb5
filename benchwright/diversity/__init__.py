"""Measures of subtopics (alpha-nDCG, ERR-IA, …) from qrels that name a subtopic a row."""
