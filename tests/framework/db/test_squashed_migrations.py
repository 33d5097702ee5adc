"""The first migrations stand for those of before: who has all of these has nothing to do, who has some is refused."""

import pytest
from django.core.checks import run_checks
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from framework.db.squashed_migrations import make_references

pytestmark = pytest.mark.django_db
FIRST = {key: one for key, one in MigrationLoader(None).disk_migrations.items() if one.replaces}


def forget(*names: tuple[str, str]) -> None:
    """Have these not been recorded as applied."""
    for app, name in names:
        assert MigrationRecorder(connection).migration_qs.filter(app=app, name=name).delete()[0] == 1


def test_each_of_our_apps_has_one_that_stands_for_others_and_nothing_is_made_after_its_tables() -> None:
    assert sorted(app for app, _ in FIRST) == ["accounts", "catalogue", "orders", "payments", "reservations"]
    for migration in FIRST.values():
        assert migration.operations[-1].code is make_references  # type: ignore[attr-defined]


def test_a_database_at_the_last_of_those_before_has_nothing_to_do() -> None:
    forget(*FIRST)
    executor = MigrationExecutor(connection)
    assert executor.migration_plan(executor.loader.graph.leaf_nodes()) == []
    assert run_checks(databases=["default"]) == []
    call_command("migrate", skip_checks=False, verbosity=0)
    assert set(FIRST) <= MigrationRecorder(connection).applied_migrations().keys()


@pytest.mark.parametrize("app", sorted(app for app, _ in FIRST))
def test_a_database_in_the_middle_of_those_before_is_refused_and_left_as_it_is(app: str) -> None:
    migration = next(one for key, one in FIRST.items() if key[0] == app)
    forget(*FIRST, migration.replaces[-1])
    recorded = set(MigrationRecorder(connection).applied_migrations())
    [found] = run_checks(databases=["default"])
    total = len(migration.replaces)
    assert (found.id, found.msg) == (
        "tablewire.E010",
        f"The database 'default' has {total - 1} of the {total} migrations that {app}.{migration.name} replaces;"
        f" the first that it lacks is {migration.replaces[-1][1]}.",
    )
    with pytest.raises(SystemCheckError, match=r"tablewire\.E010"):
        call_command("migrate", skip_checks=False, verbosity=0)
    assert MigrationRecorder(connection).applied_migrations().keys() == recorded


def test_a_database_without_any_is_not_in_the_middle() -> None:
    forget(*FIRST, *(replaced for migration in FIRST.values() for replaced in migration.replaces))
    assert run_checks(databases=["default"]) == []
