"""The colours of a venue's pages, made of one colour so that its texts can be read.

Contrast is that of WCAG 2.2, success criterion 1.4.3: https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.utils.translation import gettext as _

from framework.languages import format_number

MIN_CONTRAST = 4.5
# That of book.css.
OUR_COLOR = "#1f5f4a"
# The grounds of book.css on which the colour is that of a text or link: page, card and note.
LIGHT_GROUNDS, DARK_GROUNDS = ("#fbfaf8", "#ffffff", "#e2ecf8"), ("#131614", "#1c201e", "#182a40")
WHITE, BLACK = "#ffffff", "#000000"
# The colour of text on a button, by the mode.
ON_LIGHT, ON_DARK = "#ffffff", "#131614"
# The grounds of pages, light and dark.
PAPERS = (LIGHT_GROUNDS[0], DARK_GROUNDS[0])
STEPS = 100


@dataclass(frozen=True, slots=True)
class Palette:
    """The custom properties of book.css that the colour sets: of buttons and links, on them, and under the pointer."""

    act: str
    on_act: str
    act_soft: str

    @property
    def css(self) -> str:
        return f"--act:{self.act};--on-act:{self.on_act};--act-soft:{self.act_soft}"


def make_palettes(color: str) -> tuple[Palette, Palette]:
    """The palettes of light and dark pages for a colour `#rrggbb`, which is darkened or lightened as far as needed."""
    return (
        make_palette(color, towards=BLACK, grounds=LIGHT_GROUNDS, on_act=ON_LIGHT),
        make_palette(color, towards=WHITE, grounds=DARK_GROUNDS, on_act=ON_DARK),
    )


def explain(color: str) -> str:
    """Say how the colour differs on light pages from the chosen one, and why; empty if it does not."""
    light, _dark = make_palettes(color)
    if light.act == color:
        return ""
    found = worst_contrast(color, grounds=LIGHT_GROUNDS, on_act=ON_LIGHT)
    message = _(
        "%(color)s is too light for text: its contrast is %(contrast)s to 1, and %(needed)s to 1 is needed"
        " (WCAG 2.2 AA). Your pages use %(used)s instead."
    )
    return message % {
        "color": color,
        "contrast": format_number(Decimal(str(found)), decimals=1),
        "needed": format_number(Decimal(str(MIN_CONTRAST))),
        "used": light.act,
    }


def make_palette(color: str, *, towards: str, grounds: Sequence[str], on_act: str) -> Palette:
    for step in range(STEPS + 1):
        act = mix(color, towards, step / STEPS)
        if worst_contrast(act, grounds=grounds, on_act=on_act) >= MIN_CONTRAST:
            break
    return Palette(act=act, on_act=on_act, act_soft=soften(act, grounds))


def worst_contrast(act: str, *, grounds: Sequence[str], on_act: str) -> float:
    """The least contrast of the color with what it is on, and of text on it."""
    return min(contrast(act, ground) for ground in (*grounds, soften(act, grounds), on_act))


def soften(act: str, grounds: Sequence[str]) -> str:
    """The ground of a button under the pointer: that of a card with a little of the color."""
    return mix(grounds[1], act, 0.12)


def mix(color: str, other: str, share: float) -> str:
    """The colour with this share of the other, from 0 to 1."""
    pairs = zip(parse(color), parse(other), strict=True)
    return "#" + "".join(f"{round(one + (two - one) * share):02x}" for one, two in pairs)


def contrast(color: str, other: str) -> float:
    """The contrast of two colours, from 1 to 21."""
    darker, lighter = sorted((luminance(color), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(color: str) -> float:
    """The relative luminance, from 0 to 1: https://www.w3.org/TR/WCAG22/#dfn-relative-luminance"""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (value / 255 for value in parse(color))
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def parse(color: str) -> tuple[int, int, int]:
    value = int(color[1:], 16)
    return value >> 16, value >> 8 & 255, value & 255
