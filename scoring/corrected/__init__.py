"""People's labels of drawn queries and a machine's grades of all: corrected means, on a board.

Never in one ranking with people's own means: it is a page of its own, and runs for which the
machine does not help stand there without a rank.
"""
