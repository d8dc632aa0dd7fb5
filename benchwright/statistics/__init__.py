"""Statistics of per-query values: arrays in, arrays out, the same seed the same numbers.

Rows are queries, columns whatever is tested side by side: runs, pairs, measures, slices. NaN says
that a query has no value there (it is not in the slice, or the measure is undefined), and leaves it
out of that column alone. `families` holds a whole number for each row; rows of equal numbers stay
together in every flip and draw.
"""
