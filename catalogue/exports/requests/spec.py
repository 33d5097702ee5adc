"""The specification of an export: what a caller orders."""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from catalogue.exports import datasets
from catalogue.models import Export, Market
from framework.errors import InvalidRequest, unknown_name

# Removals are stored for this long; a delta of an older export would miss some.
MAX_DELTA_AGE = timedelta(days=90)
STATUSES_WITH_FILES = (Export.Status.SUCCEEDED, Export.Status.EXPIRED)


@dataclass(frozen=True, slots=True)
class ExportSpec:
    """Rows of a dataset in a format: filtered, with field groups, all or those changed since an earlier export."""

    dataset: str
    format: str
    filter: Mapping[str, str]
    fields: tuple[str, ...]
    since: Export | None

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the specification in hexadecimal; equal specifications have equal fingerprints."""
        since = self.since.public_id if self.since else None
        kind = [self.dataset, self.format, dict(self.filter), list(self.fields), since]
        return hashlib.sha256(json.dumps(kind, sort_keys=True).encode()).hexdigest()


def parse_spec(
    wallets: Collection[str] | None,
    *,
    dataset: str,
    format: str,  # noqa: A002  # the word of the contract
    filter: Mapping[str, str] | None = None,  # noqa: A002  # the word of the contract
    fields: Sequence[str] = (),
    since_export: str | None = None,
    now: datetime,
) -> ExportSpec:
    """Validate an order of who has these wallets, None for staff. At most three queries.

    `since_export` is the public id of an export of one of them.

    Raises InvalidRequest for an unknown market, filter or field group, and for an export that no delta can start at.
    """
    filters = dict(filter or {})
    for name in filters:
        if reason := datasets.find_filter_error(dataset, name):
            raise InvalidRequest(reason, param=f"filter.{name}")
    for group in fields:
        if reason := datasets.find_group_error(dataset, group):
            raise InvalidRequest(reason, param="fields")
    market = filters.get("market")
    if market is not None and not Market.objects.filter(pk=market).exists():
        markets = list(Market.objects.order_by("slug").values_list("slug", flat=True))
        raise InvalidRequest(unknown_name("market", market, markets).message, param="filter.market")
    spec = ExportSpec(dataset, format, filters, tuple(sorted({*fields} - {datasets.CORE})), since=None)
    if since_export is None:
        return spec
    if datasets.DATASETS[dataset].removed is None:
        raise InvalidRequest(
            f"An export of {dataset} is always whole: leave `since_export` out.", param="since_export"
        )
    own = Export.objects.filter(wallet=None) if wallets is None else Export.objects.filter(wallet__in=wallets)
    since = own.known_as(since_export).first()
    if since is None:
        raise InvalidRequest("You have no such export.", param="since_export")
    if reason := find_delta_error(since, spec, now=now):
        raise InvalidRequest(reason, param="since_export")
    return replace(spec, since=since)


def find_delta_error(since: Export, spec: ExportSpec, *, now: datetime) -> str | None:
    """Return why no delta can start at this export, or None; the format may differ."""
    if since.status not in STATUSES_WITH_FILES or since.changes_from is None:
        return f"That export is {since.status}: changes are available since an export that has succeeded."
    if since.dataset != spec.dataset:
        return f"That export is of {since.dataset}."
    if (since.filter, tuple(since.fields)) != (spec.filter, spec.fields):
        return "That export has another filter or other fields: order with the same, or everything."
    if is_too_old(since, now=now):
        return f"That export is older than {MAX_DELTA_AGE.days} days: order everything."
    return None


def is_too_old(since: Export, *, now: datetime) -> bool:
    """Whether removals since an export may have been deleted."""
    return since.changes_from is None or since.changes_from < now - MAX_DELTA_AGE
