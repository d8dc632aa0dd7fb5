"""How far a machine's grades can be trusted, measured on pairs that people graded as well.

`calibrated` takes grades of both and says how they agree, where the machine is off, what a grade of
it means, and whether it favours a system; `from_files.calibrate` does so from qrels and runs.
Coefficients are those of `benchwright.agreement`. docs/machine-judges.md tells how to read it.
"""
