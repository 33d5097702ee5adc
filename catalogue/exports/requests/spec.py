"""What somebody wants exported: read, held against what there is, and told from every other wish."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from catalogue.exports import datasets
from catalogue.models import Export, Market
from framework.errors import InvalidRequest, unknown_name

# So long it is known what is gone since an export; a delta of an older one would miss some of it.
DELTAS_REACH = timedelta(days=90)
WITH_FILES = (Export.Status.SUCCEEDED, Export.Status.EXPIRED)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Rows of a dataset in a format: those that a filter leaves, with field groups, since an earlier export or all."""

    dataset: str
    format: str
    filter: Mapping[str, str]
    fields: tuple[str, ...]
    since: Export | None

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all of it, in hexadecimal: the same in other words is the same."""
        since = self.since.public_id if self.since else None
        kind = [self.dataset, self.format, dict(self.filter), list(self.fields), since]
        return hashlib.sha256(json.dumps(kind, sort_keys=True).encode()).hexdigest()


def read(
    wallet: str | None,
    *,
    dataset: str,
    format: str,  # noqa: A002  # the word of the contract
    filter: Mapping[str, str] | None = None,  # noqa: A002  # the word of the contract
    fields: Sequence[str] = (),
    since_export: str | None = None,
    now: datetime,
) -> Wanted:
    """What the wallet wants, None for staff; `since_export` is a public id. At most three queries.

    Raises InvalidRequest for a market that there is not, for a filter or a field group that the dataset does not have,
    and for an export that no delta can begin at.
    """
    kept = dict(filter or {})
    for name in kept:
        if why := datasets.refused_filter(dataset, name):
            raise InvalidRequest(why, param=f"filter.{name}")
    for group in fields:
        if why := datasets.refused_group(dataset, group):
            raise InvalidRequest(why, param="fields")
    market = kept.get("market")
    if market is not None and not Market.objects.filter(pk=market).exists():
        markets = list(Market.objects.order_by("slug").values_list("slug", flat=True))
        raise InvalidRequest(unknown_name("market", market, markets).message, param="filter.market")
    wanted = Wanted(dataset, format, kept, tuple(sorted({*fields} - {datasets.CORE})), since=None)
    if since_export is None:
        return wanted
    since = Export.objects.filter(wallet=wallet).known_as(since_export).first()
    if since is None:
        raise InvalidRequest("You have no such export.", param="since_export")
    if why := no_beginning(since, wanted, now=now):
        raise InvalidRequest(why, param="since_export")
    return Wanted(wanted.dataset, wanted.format, wanted.filter, wanted.fields, since=since)


def no_beginning(since: Export, wanted: Wanted, *, now: datetime) -> str | None:
    """Why what has changed since this export cannot be told, None where it can; the format may be another."""
    if since.status not in WITH_FILES or since.changes_from is None:
        return f"That export is {since.status}: only from one that has succeeded on changes are told."
    if since.dataset != wanted.dataset:
        return f"That export is of {since.dataset}."
    if (since.filter, tuple(since.fields)) != (wanted.filter, wanted.fields):
        return "That export has another filter or other fields: order with the same, or everything."
    if is_out_of_reach(since, now=now):
        return f"That export is older than {DELTAS_REACH.days} days: order everything."
    return None


def is_out_of_reach(since: Export, *, now: datetime) -> bool:
    """Whether it may be forgotten by now what is gone since an export."""
    return since.changes_from is None or since.changes_from < now - DELTAS_REACH
