"""The field's file formats, read line by line with each problem's place, and written: BEIR, TREC,
tables of any columns, pairs, passages.
"""
