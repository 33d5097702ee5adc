"""The WSGI application, `config.wsgi:application`."""

import gc
import os

import django
from django.conf import settings

from framework.observability import prometheus_multiprocess

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# Imports create millions of objects that stay: collections between them take an eighth of the start.
gc.disable()
prometheus_multiprocess.use_shared_directory(settings.STATE_DIR / "metrics")
django.setup(set_prefix=False)

# These import models, which needs the apps.
from accounts.request_log.writer import request_log  # noqa: E402
from config import checks  # noqa: E402
from framework.api.fast_path import FastWSGIHandler  # noqa: E402

checks.exit_if_unsafe()

application = FastWSGIHandler()
request_log.serve()
# What is loaded stays. Each full collection would visit all of it again, and block requests for 0.1 to 0.3 s.
gc.freeze()
gc.enable()
