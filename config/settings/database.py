"""PostgreSQL, its read replica, and Valkey."""

from typing import Any

from config import environment as env
from config.settings.base import embedded

# An address at which nothing listens: commands that need no database run without one.
NO_SERVER = "postgresql://tablewire@127.0.0.1:1/tablewire"
DATABASE = env.database("DATABASE_URL", embedded.get("database_url") or NO_SERVER)
REDIS_URL = env.address(
    "REDIS_URL",
    embedded.get("redis_url") or "redis://127.0.0.1:1",
    schemes=("redis", "rediss"),
    example="redis://:password@host:6379/0",
)

STATEMENT_TIMEOUT_MS = env.number("STATEMENT_TIMEOUT_MS", 5_000)
LOCK_TIMEOUT_MS = env.number("LOCK_TIMEOUT_MS", 3_000)
# Each thread reuses its connection: opening one costs more than reading a record.
CONNECTION = {"CONN_MAX_AGE": env.number("CONN_MAX_AGE", 600), "CONN_HEALTH_CHECKS": True}
CONNECTION_OPTIONS = {
    "connect_timeout": 2,
    "tcp_user_timeout": 3000,
    "keepalives_idle": 2,
    "keepalives_interval": 1,
    "keepalives_count": 3,
    # Of several servers in the address, the primary.
    "target_session_attrs": "read-write",
    "application_name": "tablewire",
    "server_side_binding": True,
    "prepare_threshold": 2,
}
SESSION = (
    f"-c statement_timeout={STATEMENT_TIMEOUT_MS} -c lock_timeout={LOCK_TIMEOUT_MS}"
    " -c idle_in_transaction_session_timeout=10000"
)


def connection_settings(server: dict[str, Any], session: str, options: dict[str, Any]) -> dict[str, Any]:
    """The settings of a server; the query string of its URL (sslmode, sslrootcert) wins."""
    url_options = server.get("OPTIONS", {})
    # Of two `-c` for one setting the later applies.
    session = f"{session} {url_options.get('options', '')}".rstrip()
    return CONNECTION | server | {"OPTIONS": options | url_options | {"options": session}}


DATABASES = {"default": connection_settings(DATABASE, SESSION, CONNECTION_OPTIONS)}
# For reads that may be stale (framework.db.read_replica).
REPLICA_MAX_LAG_S = env.number("REPLICA_MAX_LAG_S", 5)
if not 1 <= REPLICA_MAX_LAG_S <= 60:
    # Clients may cache free answers for a minute.
    raise env.WrongValue("REPLICA_MAX_LAG_S", "a number of seconds from 1 to 60")
if env.is_set("REPLICA_URL"):
    REPLICA = env.database("REPLICA_URL", "")
    if "," in str(REPLICA["HOST"]):
        raise env.WrongValue("REPLICA_URL", "the address of one server: the lag is measured at one")
    # Fails faster than the primary, which then answers instead.
    replica_options = CONNECTION_OPTIONS | {"tcp_user_timeout": 1000, "target_session_attrs": "any"}
    read_only = f"{SESSION} -c default_transaction_read_only=on"
    DATABASES["replica"] = connection_settings(REPLICA, read_only, replica_options) | {"TEST": {"MIRROR": "default"}}

# Counters of the rate limits and of sign-in attempts
CACHES: dict[str, dict[str, Any]] = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": {"socket_timeout": 1, "socket_connect_timeout": 1},
    },
    "limits": {
        "BACKEND": "framework.api.rate_limits.valkey_backend.ValkeyCounterCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "limits",
    },
}
RATELIMIT_USE_CACHE = "limits"
