"""Client id metadata documents: apps whose client id is the URL of a document about them.

https://datatracker.ietf.org/doc/draft-ietf-oauth-client-id-metadata-document/. Anybody can make us read a URL, so it
is read by the guard against SSRF that webhooks use, with limits on its size, its time and its frequency.
"""

import logging
import re
import ssl
from datetime import datetime, timedelta
from typing import Any

from django.core.cache import cache
from django.db import IntegrityError, transaction

from accounts.json_documents import MAX_QUEUE_S, TooManyReaders, UnreadableDocument, read_document
from accounts.models import OAuthApp
from accounts.oauth.registration import InvalidClientMetadata, parse_metadata
from accounts.webhooks import ssrf_guard
from framework.api.rate_limits import counter
from framework.errors import ApiError
from framework.resilience.bulkhead import Bulkhead

logger = logging.getLogger("tablewire.api")

# A document is read again after this time; the last good one applies while it cannot be read.
MAX_AGE = timedelta(hours=1)
# A failure is remembered, so that a wrong URL does not make us knock again and again.
RETRY_AFTER_S = 60
# Documents read in a minute by one caller.
MAX_READS = 20
USER_AGENT = "Tablewire-OAuth/1"
POLICY = "oauth-documents"
READERS = Bulkhead(1, max_wait_s=MAX_QUEUE_S)


def is_document_url(client_id: str) -> bool:
    """Whether a client id is the URL of a document: https with a path, without what could alias another URL."""
    if not re.fullmatch(r"https://[a-z0-9.:-]+/[!-~]+", client_id) or re.search(r'[\\"<>#?@*]', client_id):
        return False
    segments = client_id.split("/")[3:]
    return "." not in segments and ".." not in segments and len(client_id) <= 500


def find_app(
    url: str,
    *,
    now: datetime,
    address: str,
    resolver: ssrf_guard.Resolver = ssrf_guard.resolve,
    ssl_context: ssl.SSLContext | None = None,
) -> OAuthApp | None:
    """Return the app of a document, which is read unless it was read within MAX_AGE; None if it is unacceptable.

    Call it outside of a transaction: it waits for the network for json_documents.TIMEOUT_S at most.
    """
    app = OAuthApp.objects.filter(document_url=url).first()
    if app is not None and app.document_read_at is not None and now - app.document_read_at < MAX_AGE:
        return app
    failure = f"oauth-document-failed:{counter.hash_bucket(url)}"
    if cache.get(failure):
        return app
    counted = counter.count("oauth-documents-by-caller", counter.hash_bucket(address), window_s=60)
    if counted.count > MAX_READS:
        return app
    try:
        values = read_document(
            url, user_agent=USER_AGENT, policy=POLICY, readers=READERS, resolver=resolver, ssl_context=ssl_context
        )
        if values.get("client_id") != url:
            raise UnreadableDocument("the document has another client_id than its URL")
        return store_app(url, values, now=now)
    except TooManyReaders:
        return app
    except (UnreadableDocument, ApiError) as error:
        logger.info("the client document %s is not acceptable: %s", url, error)
        cache.set(failure, True, RETRY_AFTER_S)
        return app


def store_app(url: str, values: dict[str, Any], *, now: datetime) -> OAuthApp:
    """Store what the document says. Raises InvalidClientMetadata, InvalidRedirectUri."""
    if values.get("token_endpoint_auth_method", "none") != "none" or "client_secret" in values:
        raise InvalidClientMetadata("The client of a document has no secret: `token_endpoint_auth_method` is `none`.")
    metadata = parse_metadata(values, default_name=url.split("/")[2])
    fields = {"name": metadata.name, "redirect_uris": list(metadata.redirect_uris), "document_read_at": now}
    try:
        with transaction.atomic():
            app, _is_new = OAuthApp.objects.update_or_create(
                document_url=url, defaults=fields, create_defaults=fields | {"kind": OAuthApp.Kind.DOCUMENT}
            )
    except IntegrityError:
        # A concurrent request has stored the same document.
        app = OAuthApp.objects.get(document_url=url)
    return app
