"""Commands of `benchwright` by which a site's benchmark takes and gives: files, grades, releases,
runs. `benchwright.cli.sites` lists them, and holds how a site is asked.
"""
