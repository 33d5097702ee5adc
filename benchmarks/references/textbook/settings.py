"""Settings of the textbook project: as a good one is deployed, with persistent connections and no debugging."""

import os
from urllib.parse import urlsplit

import django_stubs_ext
from django.core.management.utils import get_random_secret_key

# Lets annotations name what a generic class of Django holds.
django_stubs_ext.monkeypatch()

database = urlsplit(os.environ["REFERENCE_DATABASE_URL"])

SECRET_KEY = get_random_secret_key()
DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1", "localhost"]
INSTALLED_APPS = ["django.contrib.postgres", "rest_framework", "django_filters", "benchmarks.references.textbook"]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "benchmarks.references.textbook.limits.RateLimitMiddleware",
    "django.middleware.http.ConditionalGetMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "benchmarks.references.textbook.urls"
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": database.path.lstrip("/"),
        "USER": database.username or "",
        "PASSWORD": database.password or "",
        "HOST": database.hostname or "",
        "PORT": str(database.port or ""),
        "CONN_MAX_AGE": 600,
        "OPTIONS": {"server_side_binding": True, "prepare_threshold": 2, "options": "-c plan_cache_mode=auto"},
    }
}
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": os.environ["REFERENCE_REDIS_URL"],
        "KEY_PREFIX": "textbook",
    }
}
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["benchmarks.references.textbook.keys.BearerKey"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "UNAUTHENTICATED_USER": None,
}
SILENCED_SYSTEM_CHECKS = ["django_ratelimit.E003", "django_ratelimit.W001"]
USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = False
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LOGGING_CONFIG = None
