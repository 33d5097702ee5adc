#!/usr/bin/env python
"""Tablewire's command line."""

import os
import sys


def is_missing_stack(error: BaseException | None) -> bool:
    """Whether the error is a failed connection to an embedded server, which no environment variable replaces."""
    import kombu.exceptions
    import psycopg
    import redis.exceptions

    broker_errors = (
        kombu.exceptions.OperationalError,
        redis.exceptions.ConnectionError,
        redis.exceptions.TimeoutError,
    )
    while error is not None:
        # Errors that PostgreSQL reports have an SQLSTATE; a failed connection has none.
        if isinstance(error, psycopg.OperationalError) and error.sqlstate is None:
            return not os.environ.get("DATABASE_URL")
        if isinstance(error, broker_errors):
            return not (os.environ.get("REDIS_URL") or os.environ.get("BROKER_URL"))
        error = error.__cause__ or error.__context__
    return False


def main() -> None:
    """Run the command. Where it needs the embedded stack, which is not running, exit with a message that says so."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if sys.argv[1:2] == ["migrate"]:
        # A migration may rewrite a table of millions of rows.
        os.environ.setdefault("STATEMENT_TIMEOUT_MS", "0")
    from django.conf import settings
    from django.core.management import execute_from_command_line

    from config.environment import WrongValue

    try:
        execute_from_command_line(sys.argv)
    except WrongValue as error:
        sys.exit(str(error))
    except Exception as error:
        if not is_missing_stack(error):
            raise
        place = f"state directory {settings.STATE_DIR}"
        sys.exit(f"The embedded stack is not running ({place}): run `manage.py up` first.")


if __name__ == "__main__":
    main()
