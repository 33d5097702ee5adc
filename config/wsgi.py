"""The WSGI door: `config.wsgi:application`."""

import gc
import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from config import counts

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
counts.share(settings.STATE_DIR / "metrics")
application = get_wsgi_application()

from accounts.request_log import request_log  # noqa: E402  # no model can be imported before

request_log.serve()
# What is loaded stays. Each full collection would look at all of it again, 0.1 to 0.3 s in which nobody is answered.
gc.collect()
gc.freeze()
