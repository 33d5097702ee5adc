"""Who calls, by the header UCP-Agent, and which capabilities both sides have.

The header names the profile of the platform, a document at a URL that anybody can name. It says what the platform
understands; it proves nobody's identity.
"""

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.cache import cache

from accounts.json_documents import (
    MAX_QUEUE_S,
    MalformedDocument,
    TooManyReaders,
    UnreadableDocument,
    read_document,
)
from catalogue.ucp.protocol import CAPABILITIES, CHECKOUT, VERSION, NotPossible, ProtocolError, error_message
from framework.api.rate_limits import counter
from framework.resilience.bulkhead import MAX_BLOCKED_THREADS, Bulkhead

logger = logging.getLogger("tablewire.api")

HEADER = "UCP-Agent"
# A member of a dictionary of structured fields (RFC 8941) whose value is a string.
PROFILE = re.compile(r'(?:^|,)[ \t]*profile="((?:[ !#-\[\]-~]|\\["\\])*)"[ \t]*(?:;[^,]*)?(?=,|$)')
MAX_LENGTH = 500
MAX_AGE_S = 3600
# A failure is remembered, so that a wrong URL does not make us knock again and again.
RETRY_AFTER_S = 60
# Profiles read in a minute for one caller.
MAX_READS = 10
MAX_BYTES = 64 * 1024
USER_AGENT = "Tablewire-UCP/1"
POLICY = "ucp-profiles"
# Anybody can make us read a profile, so a server that hangs costs two threads, and where there are few one, at most.
READERS = Bulkhead(max(1, min(2, MAX_BLOCKED_THREADS - 1)), max_wait_s=MAX_QUEUE_S)


@dataclass(frozen=True, slots=True)
class Agent:
    """The platform that calls: the URL of its profile, and the capabilities that it shares with us."""

    profile: str
    capabilities: tuple[str, ...]


def identify_agent(headers: Mapping[str, str], *, address: str) -> Agent:
    """Return the agent of a request. Call it outside of a transaction: it may wait for the network.

    Raises ProtocolError for a profile that is not named, cannot be read, or is of another version, and NotPossible
    for one without the capability.
    """
    profile = read_header(headers.get(HEADER, ""))
    declared = read_profile(profile, address=address)
    if declared["version"] != VERSION:
        raise ProtocolError(
            422,
            "version_unsupported",
            f"The profile is of the protocol version {declared['version'][:20]}. This business supports {VERSION}.",
        )
    shared = [name for name in CAPABILITIES if VERSION in declared["capabilities"].get(name, ())]
    if CHECKOUT not in shared:
        content = f"The profile does not list {CHECKOUT} in the version {VERSION}."
        raise NotPossible([error_message("capabilities_incompatible", content, severity="unrecoverable")])
    return Agent(profile, tuple(shared))


def read_header(text: str) -> str:
    """Return the URL of the profile. Raises ProtocolError."""
    found = PROFILE.search(text) if len(text) <= 2 * MAX_LENGTH else None
    url = re.sub(r"\\(.)", r"\1", found[1]) if found else ""
    schemes = ("https://", "http://") if settings.WEBHOOKS_TO_LOOPBACK else ("https://",)
    if not url.startswith(schemes) or len(url) > MAX_LENGTH:
        content = f'Send `{HEADER}: profile="https://..."` with the https URL of your profile.'
        raise ProtocolError(400, "invalid_profile_url", content)
    return url


def read_profile(url: str, *, address: str) -> Mapping[str, Any]:
    """Return version and capabilities of a profile, which is read at most once an hour. Raises ProtocolError."""
    key = f"ucp-profile:{counter.hash_bucket(url)}"
    found: Mapping[str, Any] | None = cache.get(key)
    if found is None:
        counted = counter.count("ucp-profiles-by-caller", counter.hash_bucket(address), window_s=60)
        if counted.count > MAX_READS:
            raise ProtocolError(429, "rate_limit_exceeded", "Too many profiles.", headers={"Retry-After": "60"})
        found = fetch_profile(url)
        cache.set(key, found, RETRY_AFTER_S if "failure" in found else MAX_AGE_S)
    if "failure" in found:
        status, code, content = found["failure"]
        raise ProtocolError(status, code, content)
    return found


def fetch_profile(url: str) -> dict[str, Any]:
    """Return version and capabilities, or the `failure`: what is remembered of a profile. Raises ProtocolError."""
    try:
        document = read_document(url, user_agent=USER_AGENT, policy=POLICY, readers=READERS, max_bytes=MAX_BYTES)
    except TooManyReaders as error:
        content = "Other profiles are being read. Try again."
        raise ProtocolError(503, "service_unavailable", content, headers={"Retry-After": "2"}) from error
    except MalformedDocument as error:
        return {"failure": (422, "profile_malformed", f"The profile cannot be used: {error}.")}
    except UnreadableDocument as error:
        logger.info("the profile %s cannot be read: %s", url, error)
        return {"failure": (424, "profile_unreachable", "The profile cannot be read.")}
    metadata = document.get("ucp")
    version = metadata.get("version") if isinstance(metadata, dict) else None
    if not isinstance(metadata, dict) or not isinstance(version, str):
        return {"failure": (422, "profile_malformed", "The profile has no `ucp.version`.")}
    return {"version": version, "capabilities": read_capabilities(metadata.get("capabilities"))}


def read_capabilities(registry: Any) -> dict[str, list[str]]:
    """Return the versions of each capability that we know; entries that cannot be read are left out."""
    found: dict[str, list[str]] = {}
    for name in CAPABILITIES:
        entries = registry.get(name) if isinstance(registry, dict) else None
        versions = (
            [entry.get("version") for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
        )
        found[name] = [version for version in versions if isinstance(version, str)][:50]
    return found
