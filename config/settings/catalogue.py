"""Restaurant data: files of exports and photos, and the writer of the insights."""

from pathlib import Path

from config import environment as env
from config.settings.base import STATE_DIR, STORAGES

# A directory that web servers and workers share; not used with a bucket.
EXPORTS_DIR = Path(env.text("EXPORTS_DIR", str(STATE_DIR / "exports"))).absolute()
EXPORTS_S3_BUCKET = env.text("EXPORTS_S3_BUCKET", "")
EXPORTS_S3_PREFIX = env.text("EXPORTS_S3_PREFIX", "").strip("/")
EXPORTS_S3_REGION = env.text("EXPORTS_S3_REGION", "us-east-1")
EXPORTS_S3_ENDPOINT_URL = env.address("EXPORTS_S3_ENDPOINT_URL", example="https://s3.example.com")
EXPORTS_S3_ACCESS_KEY_ID = env.token("EXPORTS_S3_ACCESS_KEY_ID")
EXPORTS_S3_SECRET_ACCESS_KEY = env.token("EXPORTS_S3_SECRET_ACCESS_KEY")
env.demand_extra("EXPORTS_S3_BUCKET", "s3", "storages", "boto3")
if EXPORTS_S3_BUCKET and bool(EXPORTS_S3_ACCESS_KEY_ID) != bool(EXPORTS_S3_SECRET_ACCESS_KEY):
    raise env.WrongValue("EXPORTS_S3_SECRET_ACCESS_KEY", "set where EXPORTS_S3_ACCESS_KEY_ID is, and only there")
# A directory that all web servers and workers share.
PHOTOS_DIR = Path(env.text("PHOTOS_DIR", str(STATE_DIR / "photos"))).absolute()
STORAGES |= {
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
            # A name is used once; writing it again writes the same bytes.
            "allow_overwrite": True,
        },
    },
    "photos": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": PHOTOS_DIR, "file_permissions_mode": 0o600, "directory_permissions_mode": 0o700},
    },
}

INSIGHT_PROVIDER = env.choice("INSIGHT_PROVIDER", "extractive", ("extractive", "anthropic", "openai"))
INSIGHT_MODEL = env.text("INSIGHT_MODEL", "")
INSIGHT_API_KEY = env.token("INSIGHT_API_KEY")
# A server with the provider's protocol; empty: the provider's own.
INSIGHT_BASE_URL = env.address("INSIGHT_BASE_URL", example="https://models.example.com/v1")
INSIGHT_TIMEOUT_S = env.number("INSIGHT_TIMEOUT_S", 30)
if INSIGHT_PROVIDER != "extractive":
    if not 0 < len(INSIGHT_MODEL) <= 80:
        raise env.WrongValue("INSIGHT_MODEL", "the name of a model that INSIGHT_PROVIDER has, at most 80 characters")
    if not (INSIGHT_API_KEY or INSIGHT_BASE_URL):
        raise env.WrongValue("INSIGHT_API_KEY", "set, as no INSIGHT_BASE_URL names another server than the provider's")
# A call at the end of a task must end within CELERY_TASK_SOFT_TIME_LIMIT.
if not 1 <= INSIGHT_TIMEOUT_S <= 60:
    raise env.WrongValue("INSIGHT_TIMEOUT_S", "a number of seconds from 1 to 60")
INSIGHT_INPUT_USD = env.amount("INSIGHT_INPUT_USD", "0")
INSIGHT_OUTPUT_USD = env.amount("INSIGHT_OUTPUT_USD", "0")
INSIGHT_DAILY_BUDGET_USD = env.amount("INSIGHT_DAILY_BUDGET_USD", "0")
INSIGHT_APPROVAL = env.choice("INSIGHT_APPROVAL", "none", ("none", "models", "all"))
