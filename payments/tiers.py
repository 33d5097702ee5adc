"""The access tiers of the data API (seed 001, "States and transitions")."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tier:
    """What a caller of this tier may do: `per_minute` calls."""

    name: str
    per_minute: int


FREE = Tier(name="free", per_minute=10)
