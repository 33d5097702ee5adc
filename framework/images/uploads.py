"""Validation of uploaded images, and the form in which they are stored."""

import io
import warnings
from typing import BinaryIO

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from PIL import Image, ImageOps, UnidentifiedImageError

from framework.errors import InvalidRequest

MAX_BYTES = 15 * 1024 * 1024
MAX_PIXELS = 50_000_000
FORMATS = ("JPEG", "PNG", "WEBP")
QUALITY = 90
# For the forms that take an upload.
ACCEPT = "image/jpeg,image/png,image/webp"
HELP_TEXT = gettext_lazy(
    "JPEG, PNG or WebP, at most 15 MB and 50 megapixels. Location and camera metadata are removed."
)


class InvalidImage(InvalidRequest):
    """The uploaded file is too large, broken or not an image of an accepted format."""

    def __init__(self, message: str) -> None:
        super().__init__(message, param="file")


def read_image(file: BinaryIO, *, length: int) -> Image.Image:
    """Decode an upload of `length` bytes: upright, on white, without metadata such as camera and location.

    The number of pixels is checked before they are decoded. Raises InvalidImage.
    """
    if length > MAX_BYTES:
        raise InvalidImage(_("The file is larger than %(most)s MB.") % {"most": MAX_BYTES // 1024**2})
    message = _("The image has more than %(most)s megapixels.") % {"most": MAX_PIXELS // 1_000_000}
    too_many_pixels = InvalidImage(message)
    try:
        with warnings.catch_warnings():
            # Pillow warns about images above its own limit; ours is checked below, before decoding.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = Image.open(file, formats=FORMATS)
        if image.width * image.height > MAX_PIXELS:
            raise too_many_pixels
        upright = ImageOps.exif_transpose(image)
        flattened = Image.new("RGB", upright.size, "white")
        flattened.paste(upright.convert("RGB"), mask=upright.convert("RGBA").getchannel("A"))
    except Image.DecompressionBombError as error:
        raise too_many_pixels from error
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, EOFError) as error:
        raise InvalidImage(_("The file is not a JPEG, PNG or WebP image, or it is broken.")) from error
    return flattened


def encode_original(image: Image.Image) -> bytes:
    """Return the image as it is stored: JPEG at full size."""
    file = io.BytesIO()
    image.save(file, "JPEG", quality=QUALITY, optimize=True)
    return file.getvalue()
