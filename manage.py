#!/usr/bin/env python
"""Tablewire's command line."""

import gc
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
        if not is_missing_stack(error):
            raise
        place = f"state directory {settings.STATE_DIR}"
        sys.exit(f"The embedded stack is not running ({place}): run `manage.py up` first.")


if __name__ == "__main__":
    main()
