"""Django itself: apps, middleware, sign-in, security headers, files, mail and logging."""

import secrets
import sys
from pathlib import Path
from typing import Any

from config import environment as env
from framework.data_files import read_toml
from framework.observability import logging
from framework.state_directory import read_up_record

BASE_DIR = Path(__file__).resolve().parent.parent.parent

VERSION: str = read_toml(BASE_DIR / "pyproject.toml")["project"]["version"]

STATE_DIR = Path(env.text("TABLEWIRE_STATE_DIR", str(BASE_DIR / ".state"))).absolute()
# The addresses of the embedded stack while `manage.py up` runs; the defaults of the variables below.
embedded: dict[str, Any] = read_up_record(STATE_DIR) or {}

DEBUG = env.flag("DEBUG", False)
secret_key_file = STATE_DIR / "secret_key"
SECRET_KEY = env.text("SECRET_KEY", secret_key_file.read_text() if secret_key_file.is_file() else "")
if not SECRET_KEY:
    # `up` creates the file on its first start.
    if env.is_set("DATABASE_URL") and sys.argv[1:2] != ["up"]:
        raise env.WrongValue("SECRET_KEY", "set where DATABASE_URL is: processes that share a database share one key")
    # For commands that sign nothing.
    SECRET_KEY = secrets.token_urlsafe(48)
# Former keys: they verify and decrypt, but do not sign or encrypt.
SECRET_KEY_FALLBACKS = env.words("SECRET_KEY_FALLBACKS")
ALLOWED_HOSTS = env.hosts("ALLOWED_HOSTS", ("localhost", "127.0.0.1", "[::1]"))
PUBLIC_BASE_URL = env.address(
    "PUBLIC_BASE_URL", embedded.get("base_url") or "http://127.0.0.1:8000", example="https://api.example.com"
)
CSRF_TRUSTED_ORIGINS = env.origins("CSRF_TRUSTED_ORIGINS")
CSRF_FAILURE_VIEW = "config.website.csrf.csrf_failed"

INSTALLED_APPS = [
    "accounts.apps.AdminSiteConfig",
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
    "framework.observability.health.HealthMiddleware",
    "framework.observability.request_id.RequestIdMiddleware",
    "framework.api.cors.ApiCorsMiddleware",
    "accounts.api_keys.rate_limit.ManagementRateLimitMiddleware",
    "payments.rate_limits.DataApiMiddleware",
    "catalogue.mcp.middleware.McpMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    # Flash messages are stored in this language.
    "accounts.sign_in.language_middleware.LanguageMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "allauth.usersessions.middleware.UserSessionsMiddleware",
    "config.website.csrf.SignedOutFormMiddleware",
    "framework.admin.nul_byte_middleware.NulByteMiddleware",
    "framework.forms.invisible_text_middleware.InvisibleTextMiddleware",
    "framework.page_errors.DatabaseErrorMiddleware",
    "accounts.sign_in.outage_middleware.RedisOutageMiddleware",
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
                "accounts.dashboard.menu.layout",
                "framework.mailbox.mailbox_link",
            ],
        },
    },
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["accounts.tenancy.auth_backends.StaffBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]

# Sign-in by email address and password, or by passkey; a second factor is optional
LOGIN_URL, LOGIN_REDIRECT_URL, ACCOUNT_LOGOUT_REDIRECT_URL = "account_login", "dashboard", "home"
ACCOUNT_ADAPTER = "accounts.sign_in.allauth_adapters.AccountAdapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_FORMS = {
    "login": "accounts.forms.people.SignInForm",
    "signup": "accounts.forms.people.SignUpForm",
    "add_email": "accounts.forms.people.AddAddressForm",
    "reset_password": "accounts.forms.people.RequestPasswordResetForm",
    "reset_password_from_key": "accounts.forms.people.NewPasswordForm",
}
# The first API call must not wait for a mail. Invitations require a verified address.
ACCOUNT_EMAIL_VERIFICATION = "optional"
# Each of these causes mail to an address that the caller names. The limits of a minute are django-allauth's.
ACCOUNT_RATE_LIMITS = {
    "manage_email": "10/m/user,20/d/user",
    "reset_password": "20/m/ip,100/d/ip,5/m/key",
    "signup": "20/m/ip,100/d/ip",
}
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_DEFAULT_HTTP_PROTOCOL = PUBLIC_BASE_URL.partition(":")[0]
MFA_ADAPTER = "accounts.sign_in.allauth_adapters.MFAAdapter"
MFA_FORMS = {"add_webauthn": "accounts.forms.people.AddPasskeyForm"}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "Tablewire"
# Over http, browsers allow passkeys on localhost only.
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = PUBLIC_BASE_URL.startswith("http://")
USERSESSIONS_TRACK_ACTIVITY = False
# Row history is written by triggers; framework.db.actor sets the user.
PGHISTORY_CREATED_AT_FUNCTION = "clock_timestamp()"

SILENCED_SYSTEM_CHECKS = [
    # django-ratelimit knows the names of some backends; ours counts exactly (tests/framework/api/test_rate_limits.py).
    "django_ratelimit.W001",
    # TLS of other subdomains is not ours to promise, and the proxy redirects http to https.
    *("security.W005", "security.W021", "security.W008"),
]

SECURITY_CONTACT = env.text("SECURITY_CONTACT", "")
# Named by /terms and /privacy, which redirect to the operator's own pages if there are any.
OPERATOR_NAME = env.text("OPERATOR_NAME", "")
OPERATOR_EMAIL = env.text("OPERATOR_EMAIL", "")
TERMS_URL = env.address("TERMS_URL", example="https://example.com/terms")
PRIVACY_URL = env.address("PRIVACY_URL", example="https://example.com/privacy")
# The bearer token for /metrics; without one only this machine may read it.
METRICS_TOKEN = env.text("METRICS_TOKEN", "")

# Receivers of errors and traces (framework/observability/telemetry.py)
SENTRY_DSN = env.receiver("SENTRY_DSN", "sentry", "sentry_sdk")
OTEL_EXPORTER_OTLP_ENDPOINT = env.receiver("OTEL_EXPORTER_OTLP_ENDPOINT", "otel", "opentelemetry.exporter")
if OTEL_EXPORTER_OTLP_ENDPOINT:
    MIDDLEWARE.insert(
        MIDDLEWARE.index("framework.observability.request_id.RequestIdMiddleware") + 1,
        "framework.observability.telemetry.TracingMiddleware",
    )

DATA_UPLOAD_MAX_MEMORY_SIZE = 10 * 1024 * 1024
X_FRAME_OPTIONS = "DENY"
# For pages. A view adds what its page needs. API responses are no pages.
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
SESSION_ENGINE = "framework.sessions"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env.flag("SECURE_COOKIES", PUBLIC_BASE_URL.startswith("https://"))
# Only for a proxy that terminates TLS and replaces the header of clients.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env.flag("TRUST_FORWARDED_PROTO", False) else None
SECURE_HSTS_SECONDS = env.number("HSTS_S", 31_536_000 if PUBLIC_BASE_URL.startswith("https://") else 0)

# Language, time, static files
LANGUAGE_CODE = "en"
# Of the guests' pages and mail (framework/languages.py)
LANGUAGES = [
    ("en", "English"),
    ("da", "Dansk"),
    ("de", "Deutsch"),
    ("es", "Español"),
    ("fr", "Français"),
    ("it", "Italiano"),
    ("ja", "日本語"),
    ("nl", "Nederlands"),
    ("pt", "Português"),
]
# Of the dashboard, the sign-in pages and the mail to members; all other pages are in English.
DASHBOARD_LANGUAGES = ("en", "de", "fr", "es")
USE_I18N = True
# Guests' texts stand in the first. It wins where the dashboard shows them, too.
LOCALE_PATHS = [BASE_DIR / "locale", BASE_DIR / "locale" / "dashboard"]
FORMAT_MODULE_PATH = "framework.formats"
USE_TZ = True
TIME_ZONE = "UTC"
STATIC_URL = "/static/"
# Static files are served from their packages, without collectstatic.
WHITENOISE_USE_FINDERS = True
STORAGES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}

# smtp+tls://user:password@host:587. If unset, mail is stored in MAILBOX_DIR (framework/mailbox.py), which `up` sets;
# without a mailbox it is printed to the worker's log.
MAIL = env.mail("EMAIL_URL", "consolemail://")
MAILBOX_DIR = "" if env.is_set("EMAIL_URL") else env.text("MAILBOX_DIR", "")
EMAIL_BACKEND = "framework.mailbox.EmailBackend" if MAILBOX_DIR else MAIL["EMAIL_BACKEND"]
# Test venues have invented addresses, which may belong to real people: their mail is never sent.
SANDBOX_EMAIL_BACKEND = EMAIL_BACKEND if MAILBOX_DIR else "django.core.mail.backends.console.EmailBackend"
EMAIL_HOST, EMAIL_PORT = MAIL.get("EMAIL_HOST") or "localhost", MAIL.get("EMAIL_PORT") or 25
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = MAIL.get("EMAIL_HOST_USER") or "", MAIL.get("EMAIL_HOST_PASSWORD") or ""
EMAIL_USE_TLS, EMAIL_USE_SSL = MAIL.get("EMAIL_USE_TLS", False), MAIL.get("EMAIL_USE_SSL", False)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.text("MAIL_FROM", "Tablewire <noreply@localhost>")

LOG_LEVEL = env.choice("LOG_LEVEL", "INFO", ("CRITICAL", "ERROR", "WARNING", "INFO", "DEBUG"))
LOGGING = logging.logging_config(LOG_LEVEL)
