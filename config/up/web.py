"""The web server's application under `manage.py up`: it imports while the database is migrated, and then serves."""

import fcntl
import os
import time
from pathlib import Path

__all__ = ["application"]

POLL_S = 0.02

with Path(os.environ["TABLEWIRE_STATE_DIR"], "web.importing").open("w") as importing:
    # The others start when the first serves: on few cores it would otherwise answer when the last does.
    try:
        fcntl.flock(importing, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        fcntl.flock(importing, fcntl.LOCK_SH)
    from config.wsgi import application

    while Path(os.environ["TABLEWIRE_MIGRATING"]).exists():
        time.sleep(POLL_S)
