"""`benchwright demo`: build the demo benchmark where it is missing, and start its site."""

from benchwright.cli.sites.up import server_command

command = server_command(
    "demo", "--serve", help="Build the demo benchmark if it is not there, and start its site."
)
