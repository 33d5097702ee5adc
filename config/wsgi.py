"""The WSGI door: `config.wsgi:application`."""

import gc
import os

import django
from django.conf import settings

from framework.observability import prometheus_multiprocess

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
prometheus_multiprocess.use_shared_directory(settings.STATE_DIR / "metrics")
django.setup(set_prefix=False)

# No model can be imported before, and each doorway imports some.
from accounts.request_log.writer import request_log  # noqa: E402
from framework.api.fast_path import FastWSGIHandler  # noqa: E402

application = FastWSGIHandler()
request_log.serve()
# What is loaded stays. Each full collection would look at all of it again, 0.1 to 0.3 s in which nobody is answered.
gc.collect()
gc.freeze()
