"""Contrastive accuracy of paired embeddings: does each row find its partner?"""

from benchwright.contrastive.accuracy import contrastive_accuracy_score
from benchwright.contrastive.report import ContrastiveReport, contrastive_report

__all__ = ["ContrastiveReport", "contrastive_accuracy_score", "contrastive_report"]
