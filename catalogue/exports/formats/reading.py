"""What a writer reads: the rows of one part, inside a snapshot."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import psycopg

from catalogue.exports.datasets import Dataset
from catalogue.exports.files import Draft


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The rows of one part. `beat` is to be called now and then: it keeps the part ours, or raises that it is not."""

    dataset: Dataset
    parameters: Mapping[str, Any]
    connection: "psycopg.Connection[Any]"
    snapshot: str
    beat: Callable[[], None]


class Writer(Protocol):
    """Writes all rows of a reading into a draft, and says how many they were."""

    def __call__(self, reading: Reading, draft: Draft) -> int: ...
