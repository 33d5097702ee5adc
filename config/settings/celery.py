"""Celery. PostgreSQL has the state; the broker only announces work."""

from config import environment as env
from config.settings.database import REDIS_URL

BROKER_URL = env.broker("BROKER_URL", REDIS_URL)
CELERY_BROKER_URL = BROKER_URL
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_SOFT_TIME_LIMIT = 90
CELERY_TASK_TIME_LIMIT = 120
CELERY_TASK_DEFAULT_QUEUE = "standard"
# One queue per priority works on every broker. A worker that is given them in this order (-Q) empties the first before
# it looks into the next: on Redis by queue_order_strategy below; other brokers deliver from all of them.
# Webhooks come first, as they never hold more than one process: others find their pump at work and leave at once.
TASK_QUEUES = ("webhooks", "dedicated", "priority", "elevated", "standard")
if BROKER_URL.startswith("amqp"):
    # Replicated, so that one broker may fail.
    CELERY_TASK_DEFAULT_QUEUE_TYPE = CELERY_TASK_CREATE_MISSING_QUEUE_TYPE = "quorum"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_MAX_TASKS_PER_CHILD = 500
# Running tasks may finish within this time after SIGTERM, which Celery always waits; the others are enqueued
# again. Needs REMAP_SIGTERM=SIGQUIT.
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 3
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 600,
    "unacked_restore_interval": 10,
    "socket_timeout": 5,
    "socket_connect_timeout": 2,
    # Queues in the order of -Q (TASK_QUEUES); the default is round-robin.
    "queue_order_strategy": "priority",
}
CELERY_TIMEZONE = "UTC"
