"""What people can set: each parameter declared once, with type, range, choices, default and words.

Fields of forms and of the API, options of commands and the checks behind them are made from these
declarations (`benchwright.cli.options.of`, `benchmarks_app.api.parameters`,
`benchmarks_app.common.parameters`, `benchmarks_app.management.parameters`): a value is taken or
refused alike, wherever it comes in.
"""
