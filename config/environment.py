"""Environment variables as typed values. An empty variable, as compose files pass it, counts as unset."""

import base64
import os
import re
from collections.abc import Collection
from decimal import Decimal
from importlib.util import find_spec
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any
from urllib.parse import urlsplit

from coincurve import PrivateKey, PublicKey
from cryptography.hazmat.primitives.asymmetric import ec
from django.core.exceptions import ImproperlyConfigured
from environ import Env

HOST = re.compile(r"\*|\.?[\w-]+(\.[\w-]+)*\.?|\[[0-9a-f:.]+\]", re.IGNORECASE)
BOOLEANS = dict.fromkeys(("true", "yes", "on", "1"), True) | dict.fromkeys(("false", "no", "off", "0"), False)
MAX_NUMBER = 2**31 - 1


class WrongValue(ImproperlyConfigured):
    """A variable has a wrong value; the message has its name and what is expected, and no URL, which may be secret."""

    def __init__(self, name: str, expected: str) -> None:
        super().__init__(f"The environment variable {name} must be {expected}.")


def text(name: str, default: str) -> str:
    return os.environ.get(name) or default


def token(name: str) -> str:
    """A token that is sent in a header; "" when unset."""
    value = text(name, "")
    if not (value.isascii() and value.isprintable()):
        raise WrongValue(name, "a token of printable ASCII characters")
    return value


def vapid_key(name: str) -> ec.EllipticCurvePrivateKey | None:
    """A private key of P-256 as tools of web push write it: its 32 bytes in base64url, without padding."""
    value = text(name, "")
    if not value:
        return None
    try:
        data = base64.b64decode(value + "=" * (-len(value) % 4), altchars=b"-_", validate=True)
        return ec.derive_private_key(int.from_bytes(data), ec.SECP256R1())
    except ValueError as error:
        raise WrongValue(name, "a private key of P-256, its 32 bytes in base64url") from error


def secp256k1_keys(name: str) -> tuple[str, ...]:
    """Private keys of secp256k1 (64 hexadecimal digits) and compressed public ones (66), separated by commas.

    The first is private. In lower case without 0x; none when unset. The message shows no key.
    """
    keys = tuple(key.lower().removeprefix("0x") for key in words(name))
    try:
        for key in keys:
            data = bytes.fromhex(key)
            if len(data) not in (32, 33):
                raise ValueError
            PrivateKey(data) if len(data) == 32 else PublicKey(data)
    except ValueError:
        raise WrongValue(name, "private keys of secp256k1, 64 hexadecimal digits, and public ones, 66") from None
    if keys and len(keys[0]) != 64:
        raise WrongValue(name, "a private key first: it signs")
    return keys


def is_set(name: str) -> bool:
    return bool(os.environ.get(name))


def demand_extra(name: str, extra: str, *packages: str) -> None:
    """Raise WrongValue where the variable is set and the packages of an extra are not installed."""
    try:
        is_complete = not is_set(name) or all(find_spec(package) for package in packages)
    except ModuleNotFoundError:
        is_complete = False
    if not is_complete:
        raise WrongValue(name, f"unset where Tablewire is installed without its extra `{extra}`")


def flag(name: str, default: bool) -> bool:
    value = text(name, str(default))
    if value.lower() not in BOOLEANS:
        raise WrongValue(name, f"true or false, not {value!r}")
    return BOOLEANS[value.lower()]


def number(name: str, default: int) -> int:
    value = text(name, str(default))
    if not re.fullmatch("[0-9]{1,10}", value) or int(value) > MAX_NUMBER:
        raise WrongValue(name, f"a whole number from 0 to {MAX_NUMBER}, not {value!r}")
    return int(value)


def amount(name: str, default: str) -> Decimal:
    """A decimal number from 0 on."""
    value = text(name, default)
    if not re.fullmatch(r"[0-9]{1,12}(\.[0-9]{1,18})?", value):
        raise WrongValue(name, f"a number such as 12.5, not {value!r}")
    return Decimal(value)


def evm_address(name: str, default: str) -> str:
    """An address on an EVM chain, in lower case; "" when unset."""
    value = text(name, default)
    if value and not re.fullmatch("0x[0-9a-fA-F]{40}", value):
        raise WrongValue(name, f"an address of 0x and 40 hexadecimal digits, not {value!r}")
    return value.lower()


def choice(name: str, default: str, choices: Collection[str]) -> str:
    value = text(name, default)
    by_upper = {choice.upper(): choice for choice in choices}
    if value.upper() not in by_upper:
        raise WrongValue(name, f"one of {', '.join(choices)}, not {value!r}")
    return by_upper[value.upper()]


def hosts(name: str, default: Collection[str]) -> list[str]:
    """Host names in the form of ALLOWED_HOSTS, separated by commas."""
    values = words(name, default)
    if wrong := [value for value in values if not HOST.fullmatch(value)]:
        expected = "host names without scheme or port, IPv6 in brackets, separated by commas"
        raise WrongValue(name, f"{expected}, not {wrong[0]!r}")
    return values


def origins(name: str) -> list[str]:
    """Origins (scheme, host and optional port), separated by commas; none when unset."""
    values = words(name)
    if wrong := [value for value in values if not _is_url(value, ("http", "https")) or value.count("/") != 2]:
        raise WrongValue(name, f"origins such as https://example.com, separated by commas, not {wrong[0]!r}")
    return values


def address(name: str, default: str = "", *, example: str, schemes: Collection[str] = ("http", "https")) -> str:
    """A URL with one of these schemes and a host."""
    if is_set(name) and not _is_url(os.environ[name], schemes):
        raise WrongValue(name, f"an address such as {example}")
    return text(name, default)


def receiver(name: str, extra: str, *packages: str) -> str:
    """The URL that receives errors or traces, sent by the packages of an extra; "" when unset."""
    demand_extra(name, extra, *packages)
    return address(name, example="https://key@errors.example.com/1")


def broker(name: str, default: str) -> str:
    """The URL of a broker, or several, separated by semicolons."""
    schemes = ("redis", "rediss", "sentinel", "amqp", "amqps")
    if is_set(name) and not all(_is_url(url, schemes) for url in os.environ[name].split(";")):
        raise WrongValue(name, "an address such as redis://:password@host:6379/0 or amqp://user:password@host:5672//")
    return text(name, default)


def database(name: str, default: str) -> dict[str, Any]:
    """An entry of DATABASES; the query string of the URL becomes its OPTIONS."""
    value = text(name, default)
    try:
        if value.partition("://")[0] not in ("postgresql", "postgres"):
            raise ValueError
        entry: dict[str, Any] = Env.db_url_config(value, engine="framework.db.backend")
        if not entry["NAME"]:
            raise ValueError
    except ValueError:
        raise WrongValue(name, "an address such as postgresql://user:password@host:5432/name") from None
    return entry


def words(name: str, default: Collection[str] = ()) -> list[str]:
    """Words, separated by commas."""
    return [part.strip() for part in text(name, ",".join(default)).split(",") if part.strip()]


def networks(name: str) -> list[IPv4Network | IPv6Network]:
    """IP networks such as 192.168.1.0/24, separated by commas; none when unset."""
    try:
        return [ip_network(word) for word in words(name)]
    except ValueError as error:
        raise WrongValue(name, f"networks such as 192.168.1.0/24, separated by commas: {error}") from error


def _is_url(value: str, schemes: Collection[str]) -> bool:
    try:
        parts = urlsplit(value)
        # `port` raises ValueError for an invalid port.
        return parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def mail(name: str, default: str) -> dict[str, Any]:
    """The EMAIL_ settings of a URL with a scheme such as smtp, smtp+tls, smtp+ssl or consolemail."""
    value = text(name, default)
    kinds = ("smtp", "smtp+tls", "smtp+ssl", "consolemail", "filemail", "memorymail")
    try:
        if urlsplit(value).scheme not in kinds:
            raise ValueError
        return dict(Env.email_url_config(value))
    except (ValueError, KeyError, ImproperlyConfigured):
        raise WrongValue(name, "an address like smtp+tls://user:password@host:587") from None
