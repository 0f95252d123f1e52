"""Everything that is stored in one file, of one moment, made while the application runs; and back again.

The file is the same whichever database it comes from, so it also leads from one database to the other.
"""

from __future__ import annotations

from runs.backups.container import Contents, check_backup
from runs.backups.making import make_backup
from runs.backups.restoring import restore_backup

__all__ = ["Contents", "check_backup", "make_backup", "restore_backup"]
