"""How far assessors agree: coefficients, intervals, and where the disagreement lies.

Labels may be missing anywhere. Where a number is undefined it says so, with the reason. Formulas
and sources are in docs/agreement.md.
"""

from annotation.core.agreement.two_lists import share_equal, weighted_kappa

__all__ = ["share_equal", "weighted_kappa"]
