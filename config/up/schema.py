"""A process of `manage.py up`: exits with 0 when the database has the present schema, which it loads if there is none.

It needs no apps, so that the web server need not wait for a process that loads them.
"""

import sys

from framework.db import schema_snapshot

if __name__ == "__main__":
    sys.exit(0 if schema_snapshot.load_into_empty_database() or schema_snapshot.is_applied() else 1)
