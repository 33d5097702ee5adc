"""Settings: environment in, values out. What is unset comes from the embedded stack that `manage.py up` started.

Every variable that is read here stands in docs/settings.md. A wrong value stops the start with its name.
"""

import secrets
import sys
import tomllib
from pathlib import Path
from typing import Any

import django_stubs_ext

from config import environment as env
from config.api.wire import *  # noqa: F403  # nothing but settings
from config.dev_stack import PRICE_FEED, read_up
from framework.observability import logging

# Lets annotations name what a generic class of Django holds (ModelAdmin[Order]).
django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent

VERSION: str = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())["project"]["version"]

STATE_DIR = Path(env.text("TABLEWIRE_STATE_DIR", str(BASE_DIR / ".state"))).absolute()

# The embedded stack
embedded: dict[str, Any] = read_up(STATE_DIR) or {}
# Without an address the commands that need no database still run; manage.py words what the others meet.
NOWHERE = "postgresql://tablewire@127.0.0.1:1/tablewire"
DATABASE = env.database("DATABASE_URL", embedded.get("database_url") or NOWHERE)
REDIS_URL = env.address(
    "REDIS_URL",
    embedded.get("redis_url") or "redis://127.0.0.1:1",
    schemes=("redis", "rediss"),
    example="redis://:password@host:6379/0",
)
BROKER_URL = env.broker("BROKER_URL", REDIS_URL)

# Payments: a chain, a facilitator that settles on it, and who is paid
# With a chain of yours nothing is believed that the embedded one was started with.
chain: dict[str, Any] = {} if env.is_set("RPC_URL") else embedded.get("chain") or {}
RPC_URL = env.web_address("RPC_URL", chain.get("rpc_url") or "http://127.0.0.1:1", example="https://rpc.example.com")
FACILITATOR_URL = env.web_address(
    "FACILITATOR_URL",
    embedded.get("facilitator_url") or "http://127.0.0.1:1",
    example="https://facilitator.example.com",
)
FACILITATOR_TOKEN = env.token("FACILITATOR_TOKEN")
# Asked where the first was surely not reached.
FACILITATOR_FALLBACK_URL = env.web_address("FACILITATOR_FALLBACK_URL", example="https://facilitator.example.org")
FACILITATOR_FALLBACK_TOKEN = env.token("FACILITATOR_FALLBACK_TOKEN")
# CAIP-2; payments/chain/networks.py knows what each of them has.
PAYMENT_NETWORK = env.choice(
    "PAYMENT_NETWORK",
    chain.get("network") or ("eip155:8453" if env.is_set("RPC_URL") else "eip155:84532"),
    ("eip155:8453", "eip155:84532"),
)
PAY_TO = env.evm_address("PAY_TO", chain.get("pay_to") or "")
if env.is_set("RPC_URL") and not (PAY_TO and env.is_set("FACILITATOR_URL")):
    raise env.WrongValue("PAY_TO", "set where RPC_URL is, and FACILITATOR_URL too: they are of one chain")
TOKEN_ADDRESS = env.evm_address("TOKEN_ADDRESS", chain.get("token") or "")
TOKEN_PRICE_FEED = env.evm_address("TOKEN_PRICE_FEED", PRICE_FEED if chain and embedded.get("wallets") else "")
TOKEN_PRICE_USD = env.amount("TOKEN_PRICE_USD", "0")
PREMIUM_STAKE = env.number("PREMIUM_STAKE", 5_000)
ENTERPRISE_STAKE = env.number("ENTERPRISE_STAKE", 50_000)
TIER_CACHE_S = env.number("TIER_CACHE_S", 600)
# On a developer's chain a wallet that was just filled shows its tier at once.
TIER_UPGRADE_AGE_S = env.number("TIER_UPGRADE_AGE_S", 0 if chain and embedded.get("wallets") else 600)
ANONYMOUS_PROOF_MOST_USDC = env.amount("ANONYMOUS_PROOF_MOST_USDC", "0.10")

# Who we are
DEBUG = env.flag("DEBUG", False)
secret_key_file = STATE_DIR / "secret_key"
SECRET_KEY = env.text("SECRET_KEY", secret_key_file.read_text() if secret_key_file.is_file() else "")
if not SECRET_KEY:
    # `up` makes one itself, on its first start.
    if env.is_set("DATABASE_URL") and sys.argv[1:2] != ["up"]:
        raise env.WrongValue("SECRET_KEY", "set where DATABASE_URL is: processes that share a database share one key")
    # Good for commands that sign nothing; `up` gives its children a key that stays.
    SECRET_KEY = secrets.token_urlsafe(48)
# What was signed and encrypted under these stays good; nothing new is.
SECRET_KEY_FALLBACKS = env.secret_words("SECRET_KEY_FALLBACKS")
ALLOWED_HOSTS = env.hosts("ALLOWED_HOSTS", ("localhost", "127.0.0.1", "[::1]"))
PUBLIC_BASE_URL = env.web_address(
    "PUBLIC_BASE_URL", embedded.get("base_url") or "http://127.0.0.1:8000", example="https://api.example.com"
)
TRUSTED_PROXIES = env.number("TRUSTED_PROXIES", 0)
CSRF_TRUSTED_ORIGINS = env.origins("CSRF_TRUSTED_ORIGINS")
MCP_ALLOWED_ORIGINS = env.origins("MCP_ALLOWED_ORIGINS")
CSRF_FAILURE_VIEW = "reservations.self_service.views.form_refused"

INSTALLED_APPS = [
    "accounts.apps.BackOfficeConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "csp",
    "django_htmx",
    "drf_spectacular_sidecar",
    "pgtrigger",
    "pghistory",
    "corsheaders",
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
    "framework.observability.health.Health",
    "framework.observability.request_id.Asking",
    "framework.api.cors.Cors",
    "accounts.api_keys.rate_limit.ManagementDoorway",
    "payments.rate_limits.DataDoorway",
    "catalogue.mcp.middleware.McpDoorway",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "allauth.usersessions.middleware.UserSessionsMiddleware",
    "framework.admin.nul_byte_middleware.UnreadableAddresses",
    "framework.admin.db_error_middleware.BusyRows",
    "accounts.sign_in.outage_middleware.ClosedDoors",
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
                "accounts.dashboard.menu.shell",
            ],
        },
    },
]

# Database
STATEMENT_TIMEOUT_MS = env.number("STATEMENT_TIMEOUT_MS", 5_000)
LOCK_TIMEOUT_MS = env.number("LOCK_TIMEOUT_MS", 3_000)
# One connection per thread is kept: opening one costs more than reading a record.
CONNECTION = {"CONN_MAX_AGE": env.number("CONN_MAX_AGE", 600), "CONN_HEALTH_CHECKS": True}
CONNECTION_OPTIONS = {
    "connect_timeout": 2,
    "tcp_user_timeout": 3000,
    "keepalives_idle": 2,
    "keepalives_interval": 1,
    "keepalives_count": 3,
    # Where the address names several servers: the one that takes orders.
    "target_session_attrs": "read-write",
    "application_name": "tablewire",
    "server_side_binding": True,
    "prepare_threshold": 2,
}
SESSION = (
    f"-c statement_timeout={STATEMENT_TIMEOUT_MS} -c lock_timeout={LOCK_TIMEOUT_MS}"
    " -c idle_in_transaction_session_timeout=10000"
)
# What the query string of DATABASE_URL says (sslmode, sslrootcert) wins; of two `-c` for one thing the later counts.
ADDRESSED = DATABASE.get("OPTIONS", {})
OPTIONS = CONNECTION_OPTIONS | ADDRESSED | {"options": f"{SESSION} {ADDRESSED.get('options', '')}".rstrip()}
DATABASES = {"default": CONNECTION | DATABASE | {"OPTIONS": OPTIONS}}
# Reads that may be late (framework.db.read_replica). Each process asks one, whose lag it watches.
REPLICA_MOST_LAG_S = env.number("REPLICA_MOST_LAG_S", 5)
if not 1 <= REPLICA_MOST_LAG_S <= 60:
    # Caches are told to keep free answers for a minute.
    raise env.WrongValue("REPLICA_MOST_LAG_S", "a number of seconds from 1 to 60")
if env.is_set("REPLICA_URL"):
    REPLICA = env.database("REPLICA_URL", "")
    if "," in str(REPLICA["HOST"]):
        raise env.WrongValue("REPLICA_URL", "the address of one server: others may be as far behind as they like")
    of_replica = REPLICA.get("OPTIONS", {})
    read_only = f"{SESSION} -c default_transaction_read_only=on {of_replica.get('options', '')}".rstrip()
    # Given up sooner than the primary, which stands behind it.
    hasty = CONNECTION_OPTIONS | {"tcp_user_timeout": 1000, "target_session_attrs": "any"}
    DATABASES["replica"] = (
        CONNECTION | REPLICA | {"OPTIONS": hasty | of_replica | {"options": read_only}, "TEST": {"MIRROR": "default"}}
    )
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["accounts.tenancy.auth_backends.Staff", "accounts.tenancy.auth_backends.Members"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]

# Signing in: by mail address and password, or by passkey; a second factor for who has set one up
LOGIN_URL, LOGIN_REDIRECT_URL, ACCOUNT_LOGOUT_REDIRECT_URL = "account_login", "dashboard", "home"
ACCOUNT_ADAPTER = "accounts.sign_in.allauth_adapters.Entrance"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_FORMS = {"signup": "accounts.dashboard.forms.Newcomer"}
# A newcomer's first call must not wait for a mail; what needs a proven address asks for it (invitations do).
ACCOUNT_EMAIL_VERIFICATION = "optional"
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_DEFAULT_HTTP_PROTOCOL = PUBLIC_BASE_URL.partition(":")[0]
MFA_ADAPTER = "accounts.sign_in.allauth_adapters.SecondFactor"
MFA_FORMS = {"add_webauthn": "accounts.sign_in.forms.AddPasskey"}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "Tablewire"
# Browsers themselves let passkeys be used over http on localhost alone.
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = PUBLIC_BASE_URL.startswith("http://")
USERSESSIONS_TRACK_ACTIVITY = False
# Row history: triggers write it, and who acted is said by framework.db.actor.
PGHISTORY_CREATED_AT_FUNCTION = "clock_timestamp()"

# Valkey: counters of the rate limit, and of tries to sign in
CACHES: dict[str, dict[str, Any]] = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": {"socket_timeout": 1, "socket_connect_timeout": 1},
    },
    "limits": {
        "BACKEND": "framework.api.rate_limits.valkey_backend.CounterCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "limits",
    },
}
RATELIMIT_USE_CACHE = "limits"
SILENCED_SYSTEM_CHECKS = [
    # django-ratelimit knows some backends by name; ours counts exactly, as it asks (tests/framework/api/test_rate_limits.py).
    "django_ratelimit.W001",
    # Other names of the domain are not ours to promise TLS for; and the proxy sends http to https, not we.
    *("security.W005", "security.W021", "security.W008"),
]

# Webhooks go where customers say: on a developer's machine to that too, elsewhere never into our own network.
WEBHOOKS_TO_LOOPBACK = env.flag("WEBHOOKS_TO_LOOPBACK", False)
# 0: for good.
EVENTS_KEPT_DAYS = env.number("EVENTS_KEPT_DAYS", 90)
GUESTS_KEPT_DAYS = env.number("GUESTS_KEPT_DAYS", 0)

# Who reads /metrics: with this token, or without one from this machine only.
METRICS_TOKEN = env.text("METRICS_TOKEN", "")

# Who is told of errors and of what took how long; nobody, where it is unset (framework/observability/telemetry.py)
SENTRY_DSN = env.receiver("SENTRY_DSN", "sentry", "sentry_sdk")
OTEL_EXPORTER_OTLP_ENDPOINT = env.receiver("OTEL_EXPORTER_OTLP_ENDPOINT", "otel", "opentelemetry.exporter")
if OTEL_EXPORTER_OTLP_ENDPOINT:
    MIDDLEWARE.insert(
        MIDDLEWARE.index("framework.observability.request_id.Asking") + 1, "framework.observability.telemetry.Traced"
    )

# HTTP
MAX_BODY_BYTES = 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = 10 * 1024 * 1024
X_FRAME_OPTIONS = "DENY"
# Of pages; what a page needs beyond it is said beside its view. The APIs answer no pages.
CONTENT_SECURITY_POLICY = {
    "EXCLUDE_URL_PREFIXES": ("/api/", "/v1/", "/mcp", "/.well-known/", "/metrics", "/photos"),
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
        "img-src": ["'self'", "data:"],
        "object-src": ["'none'"],
    },
}
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env.flag("SECURE_COOKIES", PUBLIC_BASE_URL.startswith("https://"))
# Where a proxy speaks TLS and says so, replacing what callers say: pages know then that they are asked by https.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env.flag("TRUST_FORWARDED_PROTO", False) else None
SECURE_HSTS_SECONDS = env.number("HSTS_S", 31_536_000 if PUBLIC_BASE_URL.startswith("https://") else 0)

# Celery: PostgreSQL is the truth, the broker a doorbell
CELERY_BROKER_URL = BROKER_URL
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_SOFT_TIME_LIMIT = 90
CELERY_TASK_TIME_LIMIT = 120
CELERY_TASK_DEFAULT_QUEUE = "standard"
if BROKER_URL.startswith("amqp"):
    # Kept on several brokers, of which one may die.
    CELERY_TASK_DEFAULT_QUEUE_TYPE = CELERY_TASK_CREATE_MISSING_QUEUE_TYPE = "quorum"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_MAX_TASKS_PER_CHILD = 500
# What is under way when SIGTERM comes may end in this time, all of which Celery then waits; what does not is rung
# again. Needs REMAP_SIGTERM=SIGQUIT.
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 3
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 600,
    "unacked_restore_interval": 10,
    "socket_timeout": 5,
    "socket_connect_timeout": 2,
    # In the order of -Q, which config/celery.py gives; Redis would serve all queues in turn.
    "queue_order_strategy": "priority",
}
CELERY_TIMEZONE = "UTC"

# Words, time, files
LANGUAGE_CODE = "en"
USE_I18N = False
FORMAT_MODULE_PATH = "framework.formats"
USE_TZ = True
TIME_ZONE = "UTC"
STATIC_URL = "/static/"
# Static files are served from their packages: no collecting step stands between a clone and its pages.
WHITENOISE_USE_FINDERS = True
# Files of bulk exports: a place that web servers and workers share.
EXPORTS_DIR = Path(env.text("EXPORTS_DIR", str(STATE_DIR / "exports"))).absolute()
# Where a bucket is named, the files are kept there instead.
EXPORTS_S3_BUCKET = env.text("EXPORTS_S3_BUCKET", "")
EXPORTS_S3_PREFIX = env.text("EXPORTS_S3_PREFIX", "").strip("/")
EXPORTS_S3_REGION = env.text("EXPORTS_S3_REGION", "us-east-1")
EXPORTS_S3_ENDPOINT_URL = env.web_address("EXPORTS_S3_ENDPOINT_URL", example="https://s3.example.com")
EXPORTS_S3_ACCESS_KEY_ID = env.token("EXPORTS_S3_ACCESS_KEY_ID")
EXPORTS_S3_SECRET_ACCESS_KEY = env.token("EXPORTS_S3_SECRET_ACCESS_KEY")
env.demand_extra("EXPORTS_S3_BUCKET", "s3", "storages", "boto3")
if EXPORTS_S3_BUCKET and bool(EXPORTS_S3_ACCESS_KEY_ID) != bool(EXPORTS_S3_SECRET_ACCESS_KEY):
    raise env.WrongValue("EXPORTS_S3_SECRET_ACCESS_KEY", "set where EXPORTS_S3_ACCESS_KEY_ID is, and only there")
# Photos and their smaller sizes: a place that all web servers share.
PHOTOS_DIR = Path(env.text("PHOTOS_DIR", str(STATE_DIR / "photos"))).absolute()
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    "exports": {
        "BACKEND": "catalogue.exports.storage.s3.Bucket",
        "OPTIONS": {
            "bucket_name": EXPORTS_S3_BUCKET,
            "location": EXPORTS_S3_PREFIX,
            "region_name": EXPORTS_S3_REGION,
            "endpoint_url": EXPORTS_S3_ENDPOINT_URL or None,
            "access_key": EXPORTS_S3_ACCESS_KEY_ID or None,
            "secret_key": EXPORTS_S3_SECRET_ACCESS_KEY or None,
        },
    }
    if EXPORTS_S3_BUCKET
    else {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {
            "location": EXPORTS_DIR,
            "file_permissions_mode": 0o600,
            "directory_permissions_mode": 0o700,
            # Names are used once, and what is written to one again is the same.
            "allow_overwrite": True,
        },
    },
    "photos": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": PHOTOS_DIR, "file_permissions_mode": 0o600, "directory_permissions_mode": 0o700},
    },
}
# Insights: who writes them, and what that may cost
INSIGHT_PROVIDER = env.choice("INSIGHT_PROVIDER", "extractive", ("extractive", "anthropic", "openai"))
INSIGHT_MODEL = env.text("INSIGHT_MODEL", "")
INSIGHT_API_KEY = env.token("INSIGHT_API_KEY")
# Of any server that speaks the provider's protocol; empty: the provider's own.
INSIGHT_BASE_URL = env.web_address("INSIGHT_BASE_URL", example="https://models.example.com/v1")
INSIGHT_TIMEOUT_S = env.number("INSIGHT_TIMEOUT_S", 30)
if INSIGHT_PROVIDER != "extractive":
    if not 0 < len(INSIGHT_MODEL) <= 80:
        raise env.WrongValue("INSIGHT_MODEL", "the name of a model that INSIGHT_PROVIDER has, at most 80 characters")
    if not (INSIGHT_API_KEY or INSIGHT_BASE_URL):
        raise env.WrongValue("INSIGHT_API_KEY", "set, as no INSIGHT_BASE_URL names another server than the provider's")
# A worker's task that asks at its very end has to end within its own limit, CELERY_TASK_SOFT_TIME_LIMIT.
if not 1 <= INSIGHT_TIMEOUT_S <= 60:
    raise env.WrongValue("INSIGHT_TIMEOUT_S", "a number of seconds from 1 to 60")
INSIGHT_INPUT_USD = env.amount("INSIGHT_INPUT_USD", "0")
INSIGHT_OUTPUT_USD = env.amount("INSIGHT_OUTPUT_USD", "0")
INSIGHT_DAILY_BUDGET_USD = env.amount("INSIGHT_DAILY_BUDGET_USD", "0")
INSIGHT_APPROVAL = env.choice("INSIGHT_APPROVAL", "none", ("none", "models", "all"))
# smtp+tls://user:password@host:587; unset, mail is printed in the worker's log.
MAIL = env.mail("EMAIL_URL", "consolemail://")
EMAIL_BACKEND = MAIL["EMAIL_BACKEND"]
EMAIL_HOST, EMAIL_PORT = MAIL.get("EMAIL_HOST") or "localhost", MAIL.get("EMAIL_PORT") or 25
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = MAIL.get("EMAIL_HOST_USER") or "", MAIL.get("EMAIL_HOST_PASSWORD") or ""
EMAIL_USE_TLS, EMAIL_USE_SSL = MAIL.get("EMAIL_USE_TLS", False), MAIL.get("EMAIL_USE_SSL", False)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.text("MAIL_FROM", "Tablewire <noreply@localhost>")

LOG_LEVEL = env.choice("LOG_LEVEL", "INFO", ("CRITICAL", "ERROR", "WARNING", "INFO", "DEBUG"))
LOGGING = logging.configuration(LOG_LEVEL)
