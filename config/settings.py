"""Settings: environment in, values out. What is unset comes from the embedded stack that `manage.py up` started.

Every variable that is read here stands in docs/settings.md. A wrong value stops the start with its name.
"""

import os
import secrets
from pathlib import Path
from typing import Any

import django_stubs_ext
import environ

from config.stack import read_up

# Lets annotations name what a generic class of Django holds (ModelAdmin[Order]).
django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent

env = environ.Env()
STATE_DIR = Path(env.str("TABLEWIRE_STATE_DIR", str(BASE_DIR / ".state"))).absolute()

# The embedded stack ------------------------------------------------------------------------------------------------
embedded: dict[str, Any] = read_up(STATE_DIR) or {}
# Without an address the commands that need no database still run; manage.py words what the others meet.
NOWHERE = "postgresql://tablewire@127.0.0.1:1/tablewire"
DATABASE_URL = env.str("DATABASE_URL", embedded.get("database_url") or NOWHERE)
REDIS_URL = env.str("REDIS_URL", embedded.get("redis_url") or "redis://127.0.0.1:1")
BROKER_URL = env.str("BROKER_URL", REDIS_URL)

# Who we are --------------------------------------------------------------------------------------------------------
DEBUG = env.bool("DEBUG", False)
secret_key_file = STATE_DIR / "secret_key"
# Not by `env`, which takes a value that begins with a dollar sign for the name of another variable.
SECRET_KEY = os.environ.get("SECRET_KEY") or (
    secret_key_file.read_text() if secret_key_file.is_file() else secrets.token_urlsafe(48)
)
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
PUBLIC_BASE_URL = env.str("PUBLIC_BASE_URL", embedded.get("base_url") or "http://127.0.0.1:8000")
TRUSTED_PROXIES = env.int("TRUSTED_PROXIES", 0)
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "config",
    "accounts",
    "orders",
    "reservations",
    "payments",
    "catalogue",
]
MIDDLEWARE = [
    "config.api.health.Health",
    "accounts.limits.ManagementDoorway",
    "payments.limits.DataDoorway",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
APPEND_SLASH = False
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# Database ----------------------------------------------------------------------------------------------------------
STATEMENT_TIMEOUT_MS = env.int("STATEMENT_TIMEOUT_MS", 5_000)
LOCK_TIMEOUT_MS = env.int("LOCK_TIMEOUT_MS", 3_000)
DATABASES = {"default": env.db_url_config(DATABASE_URL, engine="django.db.backends.postgresql")}
DATABASES["default"] |= {
    # One connection per thread is kept: opening one costs more than a record (docs/decisions).
    "CONN_MAX_AGE": env.int("CONN_MAX_AGE", 600),
    "CONN_HEALTH_CHECKS": True,
    "OPTIONS": {
        "connect_timeout": 2,
        "tcp_user_timeout": 3000,
        "keepalives_idle": 2,
        "keepalives_interval": 1,
        "keepalives_count": 3,
        "application_name": "tablewire",
        "server_side_binding": True,
        "prepare_threshold": 2,
        "options": (
            f"-c statement_timeout={STATEMENT_TIMEOUT_MS} -c lock_timeout={LOCK_TIMEOUT_MS}"
            " -c idle_in_transaction_session_timeout=10000"
        ),
    },
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "accounts.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]

# Valkey: counters of the rate limit --------------------------------------------------------------------------------
CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL},
    "limits": {"BACKEND": "config.api.counters.CounterCache", "LOCATION": REDIS_URL},
}
RATELIMIT_USE_CACHE = "limits"
SILENCED_SYSTEM_CHECKS = [
    # django-ratelimit knows some backends by name; ours counts exactly, as it asks (tests/config/test_limits.py).
    "django_ratelimit.W001",
]

# HTTP --------------------------------------------------------------------------------------------------------------
MAX_BODY_BYTES = 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = 10 * 1024 * 1024
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_PARSER_CLASSES": ["config.api.parsers.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["config.api.renderers.JSON"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "config.api.renderers.OnlyJSON",
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_SCHEMA_CLASS": "config.api.openapi.Operation",
    "EXCEPTION_HANDLER": "config.api.errors.handle",
    "UNAUTHENTICATED_USER": None,
    "URL_FORMAT_OVERRIDE": None,
    # Whole seconds: what people write and read.
    "DATETIME_FORMAT": "%Y-%m-%dT%H:%M:%SZ",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "OAS_VERSION": "3.1.0",
    "VERSION": "1",
    "COMPONENT_SPLIT_REQUEST": True,
    "SCHEMA_PATH_PREFIX": r"/(api/)?v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_NAME_OVERRIDES": {
        "ErrorCode": "config.api.refusal.Code",
        "OrderStatus": "orders.models.Order.Status",
        "ReservationStatus": "reservations.models.Reservation.Status",
        "PendingReason": "reservations.models.Reservation.PendingReason",
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "config.api.openapi.finish",
    ],
}
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env.bool("SECURE_COOKIES", PUBLIC_BASE_URL.startswith("https://"))

# Celery: PostgreSQL is the truth, the broker a doorbell ------------------------------------------------------------
CELERY_BROKER_URL = BROKER_URL
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_SOFT_TIME_LIMIT = 90
CELERY_TASK_TIME_LIMIT = 120
CELERY_TASK_DEFAULT_QUEUE = "standard"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_MAX_TASKS_PER_CHILD = 500
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 30
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 600,
    "unacked_restore_interval": 10,
    "socket_timeout": 5,
    "socket_connect_timeout": 2,
}
CELERY_TIMEZONE = "UTC"

# Words, time, files ------------------------------------------------------------------------------------------------
LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"
STATIC_URL = "/static/"
# Static files are served from their packages: no collecting step stands between a clone and its pages.
WHITENOISE_USE_FINDERS = True
EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", "INFO")},
    "loggers": {"django.request": {"level": "ERROR"}, "django.security": {"level": "ERROR"}},
}
