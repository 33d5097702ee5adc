"""`manage.py listen`: forward the events of a venue to a program on this machine, as webhooks."""

import json
import os
import re
import signal
import time
from datetime import datetime
from typing import Any

import httpx
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.text import Text

from accounts.webhooks import http_client, signing_secrets
from accounts.webhooks.listener import Feed, Forwarder, ListenError
from framework.api.openapi.code_samples import KEY_VARIABLE

TIMEOUT_S = 20.0
# The library also accepts what is no base64.
WHSEC = r"whsec_([A-Za-z0-9+/]{4})+([A-Za-z0-9+/]{2,3})?={0,2}"


class Command(BaseCommand):
    """Follow the events over HTTP from now on, and forward each once until Ctrl-C."""

    help = "Forward the events of a venue to a program on this machine, as signed webhooks, until Ctrl-C."
    # The command uses HTTP only, as any client does.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        target = parser.add_mutually_exclusive_group(required=True)
        target.add_argument("--forward-to", metavar="URL", help="where events are sent: http://localhost:3000/hooks")
        target.add_argument("--print-only", action="store_true", help="send nothing; print events as lines of JSON")
        parser.add_argument(
            "--url", default=settings.PUBLIC_BASE_URL, help=f"address of the API ({settings.PUBLIC_BASE_URL})"
        )
        parser.add_argument("--key", help=f"API key of the venue; without it the variable {KEY_VARIABLE}")
        parser.add_argument("--types", default="", help="only these types of events, with commas between them")
        parser.add_argument("--secret", help="whsec_… that signs the requests; without it a new one, which is printed")

    def handle(self, *args: Any, **options: Any) -> None:
        # Supervisors end it as Ctrl-C does.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        self.output, self.notes = Console(highlight=False), Console(stderr=True, highlight=False)
        key = options["key"] or os.environ.get(KEY_VARIABLE, "")
        if not re.fullmatch(r"[!-~]+", key):
            raise CommandError(f"Give an API key of the venue: --key, or the variable {KEY_VARIABLE}.")
        for url in (options["url"], options["forward_to"]):
            if url is not None and not is_http_url(url):
                raise CommandError(f"{url} is no address: it starts with http:// or https://.")
        secret = options["secret"] or signing_secrets.generate()
        if not re.fullmatch(WHSEC, secret):
            raise CommandError("--secret is `whsec_` and base64.")
        self.number = 0
        try:
            self.listen(key, secret, options)
        except ListenError as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            self.report(f"Stopped after {self.number} {'event' if self.number == 1 else 'events'}.")

    def listen(self, key: str, secret: str, options: dict[str, Any]) -> None:
        """Forward events until Ctrl-C. Raises ListenError."""
        headers = {"Authorization": f"Bearer {key}"}
        with (
            httpx.Client(base_url=options["url"], headers=headers, timeout=TIMEOUT_S) as api,
            # A proxy of the environment is not for this machine.
            httpx.Client(timeout=http_client.TIMEOUT_S, trust_env=False) as receiver,
        ):
            feed = Feed(api=api, types=options["types"].replace(" ", ""), report=self.report)
            forwarder = None
            if not options["print_only"]:
                target = options["forward_to"]
                signed = "" if options["secret"] else f", signed with {secret}"
                self.report(f"Forwarding to {target}{signed}")
                forwarder = Forwarder(receiver=receiver, url=target, secret=secret, report=self.report)
            for event in feed.follow():
                self.show(event, forwarder)
                self.number += 1

    def show(self, event: dict[str, Any], forwarder: Forwarder | None) -> None:
        """Forward an event and print a line of it; without a forwarder print the event."""
        if forwarder is None:
            line = Text(http_client.replace_unprintable(json.dumps(event, ensure_ascii=False)))
        else:
            started = time.perf_counter()
            result = forwarder.forward(event)
            took = f"{1000 * (time.perf_counter() - started):.0f} ms"
            at = f"{datetime.now():%H:%M:%S}"  # noqa: DTZ005  # local time
            line = Text(http_client.replace_unprintable(f"{at}  {event['type']:24}  {event['id']}  "))
            line.append(result, "green" if result.startswith("2") else "red").append(f"  {took}")
        self.output.print(line, soft_wrap=True)

    def report(self, sentence: str) -> None:
        """Print what is not an event, to standard error."""
        self.notes.print(Text(http_client.replace_unprintable(sentence)), soft_wrap=True)


def is_http_url(text: str) -> bool:
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL:
        return False
    return url.scheme in ("http", "https") and bool(url.host)
