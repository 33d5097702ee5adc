"""The periodic tasks: each passes parameters that its task has."""

import inspect

from config.celery import app


def test_each_periodic_task_exists_and_takes_what_it_is_passed() -> None:
    app.loader.import_default_modules()
    unknown = {
        name: set(entry.get("kwargs", {})) - set(inspect.signature(app.tasks[entry["task"]].run).parameters)
        for name, entry in app.conf.beat_schedule.items()
    }
    assert {name: names for name, names in unknown.items() if names} == {}
