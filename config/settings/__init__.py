"""Settings from environment variables; unset ones come from the embedded stack that `manage.py up` started.

docs/settings.md lists every variable. A wrong value stops the start with the name of its variable.
"""

from config.settings.api import *  # noqa: F403
from config.settings.base import *  # noqa: F403
from config.settings.catalogue import *  # noqa: F403
from config.settings.celery import *  # noqa: F403
from config.settings.database import *  # noqa: F403
from config.settings.payments import *  # noqa: F403
