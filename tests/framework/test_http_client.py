"""The shared HTTP client."""

import os
from concurrent.futures import ThreadPoolExecutor

from framework.http_client import SharedClient


def test_threads_share_a_client_and_a_forked_process_has_its_own() -> None:
    shared = SharedClient(timeout=5)
    with ThreadPoolExecutor(8) as threads:
        assert len({id(client) for client in threads.map(lambda _: shared.get(), range(32))}) == 1
    ours = shared.get()
    child = os.fork()
    if child == 0:
        os._exit(0 if shared.client is None and shared.get() is not ours else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert shared.get() is ours
    ours.close()
