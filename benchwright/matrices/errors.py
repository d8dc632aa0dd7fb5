"""What can be wrong with a file of a matrix; whoever reads it says so in an error of its own.

BenchmarkError
└── MatrixFileError       a file that cannot be read as a matrix, or as the ids of its rows
    └── MatrixRowError    a row with more or fewer numbers than the first
"""

from benchwright.errors import BenchmarkError


class MatrixFileError(BenchmarkError, code="matrix-file"):
    message = "{file}: {reason}"


class MatrixRowError(MatrixFileError):
    code = "matrix-row"
