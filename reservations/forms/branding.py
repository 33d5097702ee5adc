"""The form of a venue's colour, logo and photo."""

from typing import Any

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from PIL import Image

from framework.images.uploads import ACCEPT, HELP_TEXT, InvalidImage, read_image
from reservations.booking_page.branding import IMAGES
from reservations.booking_page.colors import OUR_COLOR
from reservations.models import Branding


class BrandingForm(forms.Form):
    """The colour, and for each image a file, and a box that removes it."""

    color = forms.RegexField(
        "^#[0-9a-fA-F]{6}$",
        label=_("Color"),
        widget=forms.TextInput({"type": "color"}),
        help_text=format_lazy(
            _(
                "Of buttons and links. Without a color of your own it is {color}. A color in which texts"
                " cannot be read is adjusted."
            ),
            color=OUR_COLOR,
        ),
        error_messages={"invalid": format_lazy(_("Enter a color such as {color}."), color=OUR_COLOR)},
    )
    logo = forms.FileField(
        label=_("Logo"),
        required=False,
        help_text=format_lazy("{} {}", _("On white."), HELP_TEXT),
        widget=forms.FileInput({"accept": ACCEPT}),
    )
    removes_logo = forms.BooleanField(label=_("Remove the logo"), required=False)
    photo = forms.FileField(
        label=_("Photo"),
        required=False,
        help_text=_("Cropped to a ratio of 3 to 1."),
        widget=forms.FileInput({"accept": ACCEPT}),
    )
    removes_photo = forms.BooleanField(label=_("Remove the photo"), required=False)

    def __init__(self, *args: Any, branding: Branding | None, **options: Any) -> None:
        super().__init__(*args, **options)
        self.initial["color"] = (branding and branding.color) or OUR_COLOR
        for name in IMAGES:
            if branding is None or getattr(branding, f"{name}_id") is None:
                del self.fields[f"removes_{name}"]

    def clean_color(self) -> str:
        """The colour, or an empty text for ours."""
        color: str = self.cleaned_data["color"].lower()
        return "" if color == OUR_COLOR else color

    def clean_logo(self) -> Image.Image | None:
        return self._read("logo")

    def clean_photo(self) -> Image.Image | None:
        return self._read("photo")

    def _read(self, name: str) -> Image.Image | None:
        upload = self.cleaned_data[name]
        if not upload:
            return None
        try:
            return read_image(upload.file, length=upload.size)
        except InvalidImage as error:
            raise forms.ValidationError(error.message) from error
