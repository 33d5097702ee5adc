#!/usr/bin/env python
"""Tablewire's command line."""

import gc
import os
import sys


def find_connection_error(error: BaseException | None) -> tuple[str, str] | None:
    """Return what a failed connection to PostgreSQL or Valkey says, and the environment variable of the server."""
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
            return str(error).strip().partition("\n")[0], "DATABASE_URL"
        if isinstance(error, broker_errors):
            return str(error), "BROKER_URL" if os.environ.get("BROKER_URL") else "REDIS_URL"
        error = error.__cause__ or error.__context__
    return None


def main() -> None:
    """Run the command; on a full disk or without a server that it needs, exit with a sentence."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    # Imports create millions of objects that stay: collections at Python's 700 take an eighth of their time.
    gc.set_threshold(50_000)
    if sys.argv[1:2] in (["migrate"], ["seed"]):
        # A migration may rewrite a table of millions of rows.
        os.environ.setdefault("STATEMENT_TIMEOUT_MS", "0")
    from django.conf import settings
    from django.core.management import execute_from_command_line

    from config.environment import WrongValue
    from framework.state_directory import find_disk_error

    try:
        if sys.argv[1:2] == ["up"]:
            # It starts other processes, and needs none of the apps, which take a second to load.
            from config.management.commands.up import Command

            Command().run_from_argv(sys.argv)
        else:
            execute_from_command_line(sys.argv)
    except WrongValue as error:
        sys.exit(str(error))
    except Exception as error:
        if reason := find_disk_error(error):
            sys.exit(f"A file could not be written: {reason}. Make room and run the command again.")
        found = find_connection_error(error)
        if not found:
            raise
        reason, variable = found
        if os.environ.get(variable):
            sys.exit(f"The server of {variable} cannot be reached: {reason}")
        place = f"state directory {settings.STATE_DIR}"
        sys.exit(f"The embedded stack is not running ({place}): run `manage.py up` first.")


if __name__ == "__main__":
    main()
