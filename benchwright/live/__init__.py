"""Search endpoints that are asked while they run: templates of requests, paths into answers, pace,
and a folder that keeps every answer until the run is written.
"""
