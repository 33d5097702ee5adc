"""The reference data, loaded once for a module of tests: to load it takes a quarter of a second."""

from collections.abc import Iterator

import pytest
from django.db import transaction
from pytest_django import DjangoDbBlocker

from catalogue import reference_data


@pytest.fixture(scope="module")
def stored_reference_data(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """All tests of the module run in one transaction, each in a savepoint. Not for tests that commit."""
    transaction_of_module = transaction.atomic()
    with django_db_blocker.unblock():
        transaction_of_module.__enter__()
        reference_data.load_reference_data()
    yield
    with django_db_blocker.unblock():
        transaction.set_rollback(True)
        transaction_of_module.__exit__(None, None, None)
