"""The web server's application under `manage.py up`: it imports while the database is migrated, and then serves."""

import fcntl
import os
import time
from importlib import import_module
from pathlib import Path

__all__ = ["application"]

POLL_S = 0.02
# Large libraries that the application imports after Django and the models.
LATE_LIBRARIES = (
    "redis",
    "holidays",
    "x402",
    "drf_spectacular.views",
    "requests",
    "PIL.Image",
    "phonenumbers",
    "icalendar",
)

with Path(os.environ["TABLEWIRE_STATE_DIR"], "web.importing").open("w") as importing:
    # The others start when the first serves: on few cores it would otherwise answer when the last does.
    try:
        fcntl.flock(importing, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        # On the first start, the first process finds these compiled when it comes to them.
        for library in LATE_LIBRARIES:
            import_module(library)
        fcntl.flock(importing, fcntl.LOCK_SH)
    from config.wsgi import application

    while Path(os.environ["TABLEWIRE_MIGRATING"]).exists():
        time.sleep(POLL_S)
