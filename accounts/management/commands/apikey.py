"""API keys from the command line: create, rotate, revoke, list."""

import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from django.utils.dateparse import parse_date

from accounts.models import OVERLAPS, ApiKey, IssuedKey, Scope, Venue, every_scope
from framework.errors import ApiError

SHOWN_ONCE = "Keep the key now: it is not shown again."
LENGTH = re.compile(r"([1-9][0-9]{0,4})([hd])")
# What the column holds; a larger number would be stored as what is left of it in 32 bits.
MOST_ALLOWED = 2**31 - 1
WORDS_OF_OVERLAPS = ("0", "1h", "24h", "7d")


class Command(BaseCommand):
    """`manage.py apikey create|rotate|revoke|list`."""

    help = "Create, rotate, revoke and list API keys. A key's text is shown once, when it is made."

    def add_arguments(self, parser: CommandParser) -> None:
        """One parser for each verb. A KEY is an id (key_…) or the letters that the list shows (rk_live_Ab12…wxyz)."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        create = verbs.add_parser("create", help="make a key of a venue")
        create.add_argument("--venue", required=True, help="id or exact name of the venue")
        create.add_argument("--name", default="Command line", help="what the key is for (Command line)")
        create.add_argument("--allowance", type=int, default=1000, help="requests an hour (1000)")
        create.add_argument(
            "--scope", action="append", choices=Scope.values, help="may be given several times; without it: all"
        )
        create.add_argument("--expires", help="90d, 12h or 2027-01-31 (the day's beginning, UTC); without it: never")
        rotate = verbs.add_parser("rotate", help="replace a key by a new one on the same count")
        rotate.add_argument("key", metavar="KEY")
        rotate.add_argument(
            "--overlap", choices=WORDS_OF_OVERLAPS, default="24h", help="how long the old one still works (24h)"
        )
        revoke = verbs.add_parser("revoke", help="end a key at once and for good")
        revoke.add_argument("key", metavar="KEY")
        revoke.add_argument("--family", action="store_true", help="all that it replaced and that replaced it too")
        listed = verbs.add_parser("list", help="show keys, newest first")
        listed.add_argument("--venue", help="id or exact name of the venue")
        for verb in (create, rotate, revoke, listed):
            verb.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run one verb."""
        now = timezone.now()
        try:
            run = {"create": self.create, "rotate": self.rotate, "revoke": self.revoke, "list": self.list}
            run[options["verb"]](options, now)
        except ApiError as refusal:
            raise CommandError(refusal.message) from refusal

    def create(self, options: dict[str, Any], now: datetime) -> None:
        """Issue a key and show its text."""
        if not 1 <= options["allowance"] <= MOST_ALLOWED:
            raise CommandError(f"--allowance must be 1 to {MOST_ALLOWED}.")
        if not options["name"].strip() or len(options["name"]) > 100:
            raise CommandError("--name must have 1 to 100 letters.")
        wanted = options["scope"] or every_scope()
        issued = ApiKey.issue(
            venue_called(options["venue"]),
            name=options["name"],
            allowance=options["allowance"],
            scopes=[scope for scope in every_scope() if scope in wanted],
            expires_at=None if options["expires"] is None else end_of(options["expires"], now),
        )
        self.show(issued, options, [])

    def rotate(self, options: dict[str, Any], now: datetime) -> None:
        """Issue the key that replaces another, and show its text."""
        old = key_called(options["key"])
        overlap = OVERLAPS[WORDS_OF_OVERLAPS.index(options["overlap"])]
        issued = old.rotate(overlap=overlap, now=now)
        old.refresh_from_db()
        self.show(issued, options, [f"It replaces {old.shown}, which ends at {written(old.expires_at)}."])

    def revoke(self, options: dict[str, Any], now: datetime) -> None:
        """End a key, or its whole family."""
        key = key_called(options["key"])
        family = ApiKey.objects.filter(family=key.family) if options["family"] else ApiKey.objects.filter(pk=key.pk)
        revoked = family.revoke(now=now)
        if options["json"]:
            self.stdout.write(json.dumps({"revoked": revoked}))
        elif options["family"]:
            self.stdout.write(f"{key.shown} and its family: {revoked} revoked.")
        else:
            self.stdout.write(f"{key.shown} " + ("revoked." if revoked else "was already revoked."))

    def list(self, options: dict[str, Any], now: datetime) -> None:
        """Show keys without their text."""
        keys = ApiKey.objects.select_related("venue").order_by("-created_at", "-pk")
        if options["venue"]:
            keys = keys.filter(venue=venue_called(options["venue"]))
        records = [record(key, now) for key in keys]
        if options["json"]:
            self.stdout.write(json.dumps({"data": records}, indent=2))
            return
        columns = ("id", "key", "state", "venue", "name", "allowance", "scopes", "expires_at", "last_used_at")
        rows = [columns, *(tuple(cell(its[column]) for column in columns) for its in records)]
        widths = [max(len(row[place]) for row in rows) for place in range(len(columns))]
        for row in rows:
            self.stdout.write("  ".join(f"{words:{width}}" for words, width in zip(row, widths, strict=True)).rstrip())

    def show(self, issued: IssuedKey, options: dict[str, Any], more: Iterable[str]) -> None:
        """Print a new key, this once."""
        if options["json"]:
            its = record(issued.row, timezone.now())
            self.stdout.write(json.dumps({**its, "text": issued.text}, indent=2))
            self.stderr.write(SHOWN_ONCE, self.style.WARNING)
            return
        self.stdout.write(issued.text)
        row = issued.row
        ends = f", until {written(row.expires_at)}" if row.expires_at else ""
        lines = [
            f"{row.public_id}, for {row.venue.name}: {row.allowance} requests an hour{ends}.",
            f"It may {', '.join(row.scopes)}.",
            *more,
            SHOWN_ONCE,
        ]
        for line in lines:
            # Nothing of this is an error, which is what a terminal shows in red.
            self.stderr.write(line, self.style.WARNING if line == SHOWN_ONCE else str)


def venue_called(words: str) -> Venue:
    """The venue of this id or exact name. Raises CommandError where there is none, or more than one."""
    try:
        found = list(Venue.objects.filter(pk=UUID(words)))
    except ValueError:
        found = list(Venue.objects.filter(name=words).order_by("pk")[:20])
    if not found:
        raise CommandError(f"There is no venue `{words}`.")
    if len(found) > 1:
        raise CommandError(f"Several venues are called `{words}`. Give one of: {', '.join(str(v.pk) for v in found)}.")
    return found[0]


def key_called(words: str) -> ApiKey:
    """The key of this id or displayed text. Raises CommandError where there is none, or more than one."""
    found = list(ApiKey.objects.named(words).select_related("venue").order_by("pk")[:20])
    if not found:
        raise CommandError("There is no such key. Give its id (key_…) or its letters as `apikey list` shows them.")
    if len(found) > 1:
        raise CommandError(f"Several keys begin so. Give one of: {', '.join(key.public_id for key in found)}.")
    return found[0]


def end_of(words: str, now: datetime) -> datetime:
    """The moment that `90d`, `12h` or a date names. Raises CommandError for other words and for what is over."""
    length = LENGTH.fullmatch(words)
    if length:
        count = int(length[1])
        return now + (timedelta(hours=count) if length[2] == "h" else timedelta(days=count))
    try:
        day = parse_date(words)
    except ValueError:
        day = None
    if day is None:
        raise CommandError("--expires must read like 90d, 12h or 2027-01-31.")
    moment = datetime(day.year, day.month, day.day, tzinfo=UTC)
    if moment <= now:
        raise CommandError(f"--expires: {words} is over.")
    return moment


def record(key: ApiKey, now: datetime) -> dict[str, Any]:
    """A key as it is listed."""
    return {
        "id": key.public_id,
        "key": key.shown,
        "state": key.state(now),
        "venue": key.venue.name,
        "venue_id": str(key.venue_id),
        "name": key.name,
        "allowance": key.allowance,
        "scopes": key.scopes,
        "created_at": written(key.created_at),
        "expires_at": written(key.expires_at),
        "revoked_at": written(key.revoked_at),
        "last_used_at": written(key.last_used_at),
        "last_used_ip": key.last_used_ip,
        "family": str(key.family),
    }


def cell(value: Any) -> str:
    """A value in the table for people."""
    if isinstance(value, list):
        return "all" if value == every_scope() else " ".join(value) or "none"
    return "-" if value is None else str(value)


def written(moment: datetime | None) -> str | None:
    """A moment as the APIs write it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None
