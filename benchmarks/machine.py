"""What a run was made on: without it a figure says nothing."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.product import ROOT, Product

PACKAGES = (
    *("django", "djangorestframework", "granian", "psycopg", "orjson", "redis", "hiredis"),
    *("fastapi", "starlette", "uvicorn", "uvloop", "httptools", "asyncpg", "django-filter", "django-ratelimit"),
)


def describe_machine(product: Product) -> dict[str, Any]:
    """The machine, the versions, the moment, and the commit."""
    with psycopg.connect(product.database_url) as connection:
        postgres = (connection.execute("SHOW server_version").fetchone() or ("",))[0]
    return {
        "cpu": cpu(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "kernel": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "postgresql": postgres,
        "packages": {name: found for name in PACKAGES if (found := installed_version(name))},
        "date": datetime.now(UTC).replace(microsecond=0).isoformat(),
        "commit": commit(),
        "restaurants": product.restaurants,
        "reviews": product.reviews,
        # Beside what else the machine did before it began.
        "load_average": round(os.getloadavg()[0], 2),
    }


def cpu() -> str:
    """What the kernel calls it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def installed_version(name: str) -> str | None:
    """The version of a package; None where it is not there."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def commit() -> str | None:
    """Of the working tree, with a `+` where something in it is not committed."""
    words = ["git", "-C", str(ROOT), "describe", "--always", "--dirty=+"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603  # our own words
    except OSError:
        return None
    return done.stdout.strip() or None
