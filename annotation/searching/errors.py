"""Why the corpus cannot be searched beside a query.

SearchingError (benchwright.errors.BenchmarkError)
├── NotSearchableError   a corpus that was not made searchable
└── SearchTooLongError   words that so many documents have that finding them takes too long
"""

from benchwright.errors import BenchmarkError


class SearchingError(BenchmarkError, code="searching", status=409):
    message = "The corpus cannot be searched."


class NotSearchableError(SearchingError, code="not-searchable", status=409):
    message = "The corpus is not searchable yet. Whoever keeps the benchmark can have it made so."


class SearchTooLongError(SearchingError, code="search-too-long", status=409):
    message = "That took too long. Use rarer words, or fewer."
