"""A random machine that moves the product and a model of it side by side."""

import pytest

# So that what differs is shown.
pytest.register_assert_rewrite("tests.stateful.machine")
