"""Why there is no calibration.

CalibrationError (benchwright.errors.BenchmarkError)
├── NoPairInCommonError     people and the machine graded no pair in common
└── ScaleMissingError       grades that leave no scale
"""

from benchwright.errors import BenchmarkError


class CalibrationError(BenchmarkError, code="calibration"):
    message = "There is nothing to calibrate."


class NoPairInCommonError(CalibrationError, code="calibration-no-pair"):
    message = (
        "People graded {n_people} pairs and the machine {n_machine}, but none in common. Check "
        "that both name queries and documents by the same ids."
    )


class ScaleMissingError(CalibrationError, code="calibration-scale"):
    message = "The scale is {scale}; expected at least two grades from 0 up."
