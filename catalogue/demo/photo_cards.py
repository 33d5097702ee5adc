"""Draw the pictures of demo photos: cards with a title and the restaurant's name on a coloured background."""

import random
import textwrap
from colorsys import hls_to_rgb

from anyascii import anyascii
from PIL import Image, ImageDraw, ImageFont, ImageOps

MAX_LINE_LENGTH, MAX_LINES, MAX_FOOTER_LENGTH = 16, 4, 40


def draw_card(seed: int, *, title: str, footer: str, width: int, height: int) -> Image.Image:
    """Draw a card of this size in pixels; the same arguments give the same pixels.

    The text is transliterated, because the font that Pillow bundles has only ASCII characters.
    About 10 ms of a core at 1200 by 900 pixels.
    """
    rng = random.Random(seed)  # noqa: S311  # reproducible, not secret
    hue, short_side = rng.random(), min(width, height)
    dark, light = (
        tuple(round(255 * channel) for channel in hls_to_rgb((hue + shift) % 1, lightness, 0.5))
        for shift, lightness in ((0.0, 0.22), (0.09, 0.42))
    )
    downwards = Image.linear_gradient("L")
    gradient = Image.blend(downwards, downwards.transpose(Image.Transpose.ROTATE_90), rng.choice((0.25, 0.5, 0.75)))
    card = ImageOps.colorize(gradient.resize((width, height), Image.Resampling.BICUBIC), dark, light)
    draw = ImageDraw.Draw(card, "RGBA")
    for _ in range(3):
        center = (rng.random() * width, rng.random() * height)
        draw.circle(center, rng.uniform(0.2, 0.5) * short_side, fill=(255, 255, 255, 18))
    lines = textwrap.wrap(anyascii(title), MAX_LINE_LENGTH, max_lines=MAX_LINES, placeholder="...")
    footer = textwrap.shorten(anyascii(footer), MAX_FOOTER_LENGTH, placeholder="...")
    for text, size, y, alpha in (
        ("\n".join(lines), short_side / 8, height / 2, 255),
        (footer, short_side / 20, height - 0.1 * short_side, 200),
    ):
        left, _, right, _ = draw.multiline_textbbox((0, 0), text, ImageFont.load_default(size))
        font = ImageFont.load_default(size * min(1, 0.84 * width / max(1, right - left)))
        draw.multiline_text((width / 2, y), text, (255, 255, 255, alpha), font, anchor="mm", align="center")
    return card
