"""The command `benchwright`: groups of commands by noun, which read files and ask sites.

`start` answers the plainest line without click, `main` finds commands, `options`, `files` and
`parameters` are what they share; each command's module is imported when it is run.
"""
