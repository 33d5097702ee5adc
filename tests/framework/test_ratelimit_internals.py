"""The private names of django-ratelimit that we use still say where it counts."""

import time

from django.test import RequestFactory
from django_ratelimit.core import get_usage

from framework.api.rate_limits.middleware import counter_cache
from framework.ratelimit_internals import counter_key


def test_a_count_is_read_where_it_was_made() -> None:
    counter_cache().clear()
    request = RequestFactory().get("/")
    for _ in range(3):
        usage = get_usage(request, group="g:", key=lambda _group, _request: "v", rate=(1, 3600), increment=True)
    key, window_end = counter_key(group="g:", value="v", period_s=3600)
    assert usage["count"] == 3
    assert counter_cache().get_counts([key]) == [3]
    assert 0 <= window_end - time.time() <= 3600
