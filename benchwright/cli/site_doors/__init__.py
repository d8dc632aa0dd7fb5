"""Commands on files as they are done on a site, where one is named before them (`doors.Door`).

A module has what several commands of one subject take there, and the functions that do it; the
command names them. How a site is asked stands in `benchwright.cli.sites.asking`.
"""
