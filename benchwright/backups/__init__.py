"""A folder of backups: files by their digest, kept once, and snapshots of all rows that name them.

`layout` says what lies where, `lines` writes and reads rows, `targets` are what a backup is written
to (a folder, or a stream of tar), `verifying` reads it all again, `unpacking` reads the stream.
"""
