"""The web server's application under `manage.py up`: it imports while the database is migrated, and then serves."""

import os
import time
from pathlib import Path

from config.wsgi import application

__all__ = ["application"]

POLL_S = 0.02

while Path(os.environ["TABLEWIRE_MIGRATING"]).exists():
    time.sleep(POLL_S)
