"""API keys from the command line: create, rotate, revoke, list."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Q
from django.utils import timezone
from django.utils.dateparse import parse_date

from accounts.models import ApiKey, Scope, Venue
from accounts.models.api_keys import OVERLAPS, CreatedApiKey, all_scopes, default_scopes
from accounts.models.venues import PREFIX as VENUE
from framework.errors import ApiError
from framework.public_ids import decode

SHOWN_ONCE = "Copy the key now: it is not shown again."
DURATION = re.compile(r"([1-9][0-9]{0,4})([hd])")
# The maximum of the 32-bit column.
MAX_ALLOWANCE = 2**31 - 1
OVERLAP_CHOICES = dict(zip(("0", "1h", "24h", "7d"), OVERLAPS, strict=True))
TIMES = ("created_at", "expires_at", "revoked_at", "last_used_at")
COLUMNS = ("id", "key", "state", "venue", "name", "allowance", "scopes", "expires_at", "last_used_at")


class Command(BaseCommand):
    """`manage.py apikey create|rotate|revoke|list`."""

    help = "Create, rotate, revoke and list API keys. A key's text is shown once, when it is made."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        create = verbs.add_parser("create", help="make a key of a venue")
        create.add_argument("--venue", required=True, help="id or exact name of the venue")
        create.add_argument("--name", default="Command line", help="what the key is for (Command line)")
        create.add_argument("--allowance", type=int, default=1000, help="requests an hour (1000)")
        create.add_argument(
            "--scope",
            action="append",
            choices=Scope.values,
            help="may be given several times; without it: all except those of webhooks",
        )
        create.add_argument("--expires", help="90d, 12h or 2027-01-31 (the day's beginning, UTC); without it: never")
        rotate = verbs.add_parser("rotate", help="replace a key by a new one on the same count")
        rotate.add_argument("key", metavar="KEY")
        rotate.add_argument(
            "--overlap", choices=OVERLAP_CHOICES, default="24h", help="how long the old one still works (24h)"
        )
        revoke = verbs.add_parser("revoke", help="end a key at once and for good")
        revoke.add_argument("key", metavar="KEY")
        revoke.add_argument("--family", action="store_true", help="all that it replaced and that replaced it too")
        list_parser = verbs.add_parser("list", help="show keys, newest first")
        list_parser.add_argument("--venue", help="id or exact name of the venue")
        for verb in (create, rotate, revoke, list_parser):
            verb.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        run = {"create": self.create, "rotate": self.rotate, "revoke": self.revoke, "list": self.list}
        try:
            run[options["verb"]](options, now)
        except ApiError as refusal:
            raise CommandError(refusal.message) from refusal

    def create(self, options: dict[str, Any], now: datetime) -> None:
        """Issue a key and show its text."""
        if not 1 <= options["allowance"] <= MAX_ALLOWANCE:
            raise CommandError(f"--allowance must be 1 to {MAX_ALLOWANCE}.")
        if not options["name"].strip() or len(options["name"]) > 100:
            raise CommandError("--name must have 1 to 100 letters.")
        requested = options["scope"] or default_scopes()
        created = ApiKey.create(
            find_venue(options["venue"]),
            name=options["name"],
            allowance=options["allowance"],
            scopes=[scope for scope in all_scopes() if scope in requested],
            expires_at=None if options["expires"] is None else parse_expiry(options["expires"], now),
        )
        self.show(created, options)

    def rotate(self, options: dict[str, Any], now: datetime) -> None:
        """Issue the key that replaces another, and show its text."""
        old = find_key(options["key"])
        created = old.rotate(overlap=OVERLAP_CHOICES[options["overlap"]], now=now)
        old.refresh_from_db(fields=["expires_at"])
        self.show(created, options, f"It replaces {old.masked}, which ends at {format_time(old.expires_at)}.")

    def revoke(self, options: dict[str, Any], now: datetime) -> None:
        """End a key, or its whole family."""
        key = find_key(options["key"])
        revoked = ApiKey.objects.filter(Q(family=key.family) if options["family"] else Q(pk=key.pk)).revoke(now=now)
        if options["json"]:
            self.stdout.write(json.dumps({"revoked": revoked}))
        elif options["family"]:
            self.stdout.write(f"{key.masked} and its family: {revoked} revoked.")
        else:
            self.stdout.write(f"{key.masked} " + ("revoked." if revoked else "was already revoked."))

    def list(self, options: dict[str, Any], now: datetime) -> None:
        """Show keys without their text."""
        keys = ApiKey.objects.issued().select_related("venue").order_by("-created_at", "-pk")
        if options["venue"]:
            keys = keys.filter(venue=find_venue(options["venue"]))
        records = [serialize_key(key, now) for key in keys]
        if options["json"]:
            self.stdout.write(json.dumps({"data": records}, indent=2))
            return
        rows = [COLUMNS, *(tuple(format_cell(record[column]) for column in COLUMNS) for record in records)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            self.stdout.write("  ".join(f"{text:{width}}" for text, width in zip(row, widths, strict=True)).rstrip())

    def show(self, created: CreatedApiKey, options: dict[str, Any], *more: str) -> None:
        """Print a new key, this once."""
        row = created.row
        if options["json"]:
            self.stdout.write(json.dumps({**serialize_key(row, timezone.now()), "text": created.text}, indent=2))
        else:
            self.stdout.write(created.text)
            end = f", until {format_time(row.expires_at)}" if row.expires_at else ""
            about = f"{row.public_id}, for {row.venue.name}: {row.allowance} requests an hour{end}."
            for line in (about, f"It may {', '.join(row.scopes)}.", *more):
                # Without a style: a terminal shows errors in red, and this is none.
                self.stderr.write(line, str)
        self.stderr.write(SHOWN_ONCE, self.style.WARNING)


def find_venue(text: str) -> Venue:
    """Return the venue with this id, `ven_...` or a UUID, or exact name. Raises CommandError unless there is one."""
    try:
        found = list(Venue.objects.filter(pk=decode(VENUE, text) or UUID(text)))
    except ValueError:
        found = list(Venue.objects.filter(name=text).order_by("pk")[:20])
    if not found:
        raise CommandError(f"There is no venue `{text}`.")
    if len(found) > 1:
        ids = ", ".join(venue.public_id for venue in found)
        raise CommandError(f"Several venues are called `{text}`. Give one of: {ids}.")
    return found[0]


def find_key(text: str) -> ApiKey:
    """Return the key with this id or masked text. Raises CommandError unless there is exactly one."""
    found = list(ApiKey.objects.issued().matching(text).select_related("venue").order_by("pk")[:20])
    if not found:
        raise CommandError("There is no such key. Give its id (key_…) or its letters as `apikey list` shows them.")
    if len(found) > 1:
        raise CommandError(f"Several keys begin so. Give one of: {', '.join(key.public_id for key in found)}.")
    return found[0]


def parse_expiry(text: str, now: datetime) -> datetime:
    """Parse `90d`, `12h` or a date. Raises CommandError for another format and for the past."""
    if length := DURATION.fullmatch(text):
        return now + int(length[1]) * timedelta(hours=1 if length[2] == "h" else 24)
    try:
        day = parse_date(text)
    except ValueError:
        day = None
    if day is None:
        raise CommandError("--expires must read like 90d, 12h or 2027-01-31.")
    moment = datetime(day.year, day.month, day.day, tzinfo=UTC)
    if moment <= now:
        raise CommandError(f"--expires: {text} is in the past.")
    return moment


def serialize_key(key: ApiKey, now: datetime) -> dict[str, Any]:
    """Return the key as JSON, without its text."""
    return {
        "id": key.public_id,
        "key": key.masked,
        "state": key.state(now),
        "venue": key.venue.name,
        "venue_id": key.venue.public_id,
        "name": key.name,
        "allowance": key.allowance,
        "scopes": key.scopes,
        **{name: format_time(getattr(key, name)) for name in TIMES},
        "last_used_ip": key.last_used_ip,
        "family": str(key.family),
    }


def format_cell(value: Any) -> str:
    """Format a value of the table."""
    if isinstance(value, list):
        names = {tuple(all_scopes()): "all", tuple(default_scopes()): "all except webhooks"}
        return names.get(tuple(value)) or " ".join(value) or "none"
    return "-" if value is None else str(value)


def format_time(moment: datetime | None) -> str | None:
    """Format a time as the API does."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None
