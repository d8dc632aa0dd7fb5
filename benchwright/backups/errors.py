"""Why a backup is not written, or not restored.

BenchmarkError
└── BackupError              nothing was written, or nothing restored
    ├── NoBackupError        there is none, or none of that name
    ├── BackupBusyError      another process is at the same folder
    ├── ForeignFolderError   a folder with other things in it
    ├── BackupDamagedError   what is read does not fit its digest
    ├── KeptDamagedError     nobody knows which files a snapshot needs: none is removed
    ├── BackupVersionError   it was written by a version that is not known here
    ├── NotMigratedError     the database is of an earlier version than the program
    ├── NotEmptyError        a site is there already
    ├── SiteAtWorkError      a worker is alive
    ├── RowRefusedError      a row that the database does not take
    └── RowsDifferError      rows that are not those of the backup when they are read back
"""

from benchwright.errors import BenchmarkError


class BackupError(BenchmarkError, code="backup"):
    message = "{why}"


class NoBackupError(BackupError, code="backup-missing"):
    message = "There is no {what} in {place}. {there}"


class BackupBusyError(BackupError, code="backup-busy"):
    message = "Another backup is being written to {place}, or restored from it. Wait for its end."


class ForeignFolderError(BackupError, code="backup-foreign-folder"):
    message = (
        "{place} has other things in it than backups ({found}). Name an empty or a new folder."
    )


class BackupDamagedError(BackupError, code="backup-damaged"):
    message = (
        "The backup {name} is damaged: {problems}. Nothing was restored. Take an earlier snapshot, "
        "or another copy; what is whole of its files comes back with --damaged."
    )


class KeptDamagedError(BackupError, code="backup-kept-damaged"):
    message = (
        "The snapshot {name} does not tell any more which files it needs ({problem}), and so "
        "nothing was removed. Remove its folder below snapshots/, then back up again."
    )


class BackupVersionError(BackupError, code="backup-version"):
    message = (
        "The backup was written by {version}, which is later than this program: {what}. "
        "Install that version, or a later one, and restore with it."
    )


class NotMigratedError(BackupError, code="backup-not-migrated"):
    message = (
        "The database lacks migrations of this version ({missing}). Back it up with the version "
        "it is of, or run manage.py migrate first."
    )


class NotEmptyError(BackupError, code="restore-not-empty"):
    message = (
        "There is a site in the database {database} already ({found}), and a backup is restored "
        "into an empty one. To delete all that is in it and restore: --replace {database}"
    )


class SiteAtWorkError(BackupError, code="restore-site-at-work"):
    message = "A worker of this site is at work ({workers}). Stop the site, then restore."


class RowRefusedError(BackupError, code="restore-row-refused"):
    message = "The database does not take row {line} of {table}: {why}. Nothing was restored."


class RowsDifferError(BackupError, code="restore-rows-differ"):
    message = (
        "Read back from the database, the {n_rows:,} rows of {table} are not those of the backup, "
        "which has {expected:,}. Nothing was restored."
    )
