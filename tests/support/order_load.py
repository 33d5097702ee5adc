"""Orders under load, each sent again until it is acknowledged; then whether what callers were told has stayed true."""

import json
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event

import httpx

from tests.support import builders

CALLERS = 8
GIVE_UP_S = 60.0


@dataclass
class Seen:
    """What callers were answered and how long it took, in seconds: the acknowledged orders by their Idempotency-Keys.

    Impolite is whatever neither acknowledges nor says in our words when to come again.
    """

    acknowledged: dict[str, bytes] = field(default_factory=dict)
    moments: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    impolite: list[str] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)
    took_s: list[float] = field(default_factory=list)

    def gap(self) -> float:
        """The longest time in which nothing was acknowledged, in seconds."""
        return max(after - before for before, after in zip(self.moments, self.moments[1:], strict=False))

    def first_after(self, moment: float) -> float:
        """Seconds from that moment to the next acknowledgement."""
        return min(at for at in self.moments if at > moment) - moment


class Shop(ABC):
    """A product whose venue takes orders: where its callers go, and with which key."""

    base_url: str
    key: str

    @abstractmethod
    def stored(self, customer: str) -> Set[str]:
        """The ids of a customer's orders, where they are written."""

    def client(self) -> httpx.Client:
        """A caller that keeps its connection."""
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.Client(base_url=self.base_url, headers=headers, timeout=GIVE_UP_S)

    @contextmanager
    def ordering(self, *, customer: str, before_s: float = 3, after_s: float = 4) -> Iterator[Seen]:
        """Callers that order as fast as they can, so long before and after the block too."""
        seen = Seen()

        def call(caller: int, enough: Event) -> None:
            with self.client() as client:
                number = 0
                while not enough.is_set():
                    order_until_acknowledged(client, f"{customer}-{caller}-{number}", seen)
                    number += 1

        with calling(call, before_s=before_s, after_s=after_s):
            yield seen

    def check(self, seen: Seen, *, customer: str) -> None:
        """Each acknowledged order is there once and no other is, and its call is answered the same bytes again."""
        assert seen.unanswered == []
        stored = self.stored(customer)
        ids = {json.loads(content)["id"] for content in seen.acknowledged.values()}
        assert len(ids) == len(seen.acknowledged)
        assert ids - stored == set(), "acknowledged and lost"
        assert stored - ids == set(), "made twice, or for nobody"
        with self.client() as client:
            for name, content in seen.acknowledged.items():
                again = order(client, name)
                assert (again.status_code, again.content) == (201, content)
                assert again.headers["Idempotent-Replayed"] == "true"


def order(client: httpx.Client, name: str) -> httpx.Response:
    """Order once under this Idempotency-Key, however often it is called; before the dash stands the customer."""
    body = builders.order_body(customer_id=name.partition("-")[0])
    return client.post("/api/v1/orders", json=body, headers={"Idempotency-Key": name})


def order_until_acknowledged(client: httpx.Client, name: str, seen: Seen) -> None:
    """The same order again and again, until it is acknowledged or nobody would wait any longer."""
    until = time.monotonic() + GIVE_UP_S
    while (began_at := time.monotonic()) < until:
        try:
            answer = order(client, name)
        except httpx.TransportError as error:
            seen.broken[repr(error)] += 1
            time.sleep(0.05)
            continue
        finally:
            seen.took_s.append(time.monotonic() - began_at)
        seen.statuses[answer.status_code] += 1
        if answer.status_code == 201:
            seen.acknowledged[name] = answer.content
            seen.moments.append(time.monotonic())
            return
        if "Retry-After" not in answer.headers or b'"service_unavailable"' not in answer.content:
            seen.impolite.append(answer.text)
        time.sleep(0.05)
    seen.unanswered.append(name)


@contextmanager
def calling(call: Callable[[int, Event], None], *, before_s: float, after_s: float) -> Iterator[None]:
    """So many threads that call until it is enough, so long before and after the block too; raises what they raise."""
    enough = Event()
    with ThreadPoolExecutor(CALLERS) as callers:
        calls = [callers.submit(call, caller, enough) for caller in range(CALLERS)]
        try:
            time.sleep(before_s)
            yield
            time.sleep(after_s)
        finally:
            enough.set()
    for one in calls:
        one.result()
