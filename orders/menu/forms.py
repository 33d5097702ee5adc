"""Dashboard forms for dishes and categories."""

from decimal import Decimal
from functools import partial
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.db import transaction
from django.utils import timezone
from PIL import Image

from framework.django_internals import ValidatesUniqueness
from framework.forms.optimistic_concurrency import ChangedFieldsForm, ConflictCheckForm
from framework.images.uploads import ACCEPT, HELP_TEXT, InvalidImage, read_image
from orders import pricing
from orders.menu import editing, photos
from orders.menu.decimals import convert_decimal_comma
from orders.models import Allergen, Menu, MenuCategory, MenuItem

CLOCK = forms.TimeInput(format="%H:%M", attrs={"type": "time"})


class AllergensAndPhotoForm(ChangedFieldsForm):
    """The allergens of a dish as checkboxes, and its photo: uploaded, replaced or removed. For all forms of dishes."""

    allergens = forms.MultipleChoiceField(
        choices=[(value, label.capitalize()) for value, label in Allergen.choices],
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    file = forms.FileField(
        label="Photo", required=False, help_text=HELP_TEXT, widget=forms.FileInput(attrs={"accept": ACCEPT})
    )
    removes_photo = forms.BooleanField(label="Remove the photo", required=False)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.image: Image.Image | None = None
        if not self.instance.photo_id:
            del self.fields["removes_photo"]
        for name in {"file", "removes_photo"} & self.fields.keys():
            self.fields[name].show_hidden_initial = False

    @property
    def photo_path(self) -> str | None:
        """The current photo."""
        return photos.thumbnail_path(self.instance.photo_id, "small") if self.instance.photo_id else None

    def clean_file(self) -> Any:
        upload = self.cleaned_data["file"]
        if upload:
            try:
                self.image = read_image(upload.file, length=upload.size)
            except InvalidImage as error:
                raise forms.ValidationError(error.message) from error
        return upload

    def save_changes(self) -> None:
        super().save_changes()
        if self.image:
            # After the commit, because a file is written only after its row is committed.
            transaction.on_commit(partial(photos.replace, self.instance, self.image, now=timezone.now()))
        elif self.cleaned_data.get("removes_photo"):
            photos.set_photo(self.instance, None)


class MenuRowForm(ValidatesUniqueness, ConflictCheckForm):
    # Ids and names are unique on a menu.
    unique_with = frozenset({"menu"})

    def __init__(self, *args: Any, menu: Menu, **options: Any) -> None:
        super().__init__(*args, **options)
        self.menu = menu
        self.instance.menu = menu


class CategoryForm(MenuRowForm):
    class Meta:
        model = MenuCategory
        error_messages = {NON_FIELD_ERRORS: {"unique_together": "A category with this name already exists."}}
        fields = ["name", "served_from", "served_until"]
        widgets = {"served_from": CLOCK, "served_until": CLOCK}
        help_texts = {
            "name": "For example: Pizza, Desserts, Lunch",
            "served_from": "Leave empty if always served",
            "served_until": "End time. If it is earlier than the start, it is on the next day",
        }


class CommaDecimalField(forms.DecimalField):
    """A number that may have a decimal comma."""

    default_error_messages: ClassVar = {"invalid": "Enter a number such as 9.50."}

    def to_python(self, value: Any) -> Any:
        return super().to_python(convert_decimal_comma(value) if isinstance(value, str) else value)


class ItemForm(AllergensAndPhotoForm, MenuRowForm):
    class Meta:
        model = MenuItem
        field_classes = {"price": CommaDecimalField, "tax_percent": CommaDecimalField}
        error_messages = {NON_FIELD_ERRORS: {"unique_together": "A dish with this id already exists."}}
        fields = ["name", "ref", "category", "price", "tax_percent", "description", "allergens", "is_available"]
        widgets = {
            "price": forms.TextInput(attrs={"inputmode": "decimal"}),
            "tax_percent": forms.TextInput(attrs={"inputmode": "decimal"}),
        }
        labels = {"ref": "Id", "tax_percent": "Tax in percent", "is_available": "Available"}
        help_texts = {
            "ref": "The menu_item_id that API clients use. Leave empty to derive it from the name: pizza-margherita",
            "is_available": "If off, the dish cannot be ordered",
        }

    field_order = [*Meta.fields[:-1], "file", "removes_photo", "is_available"]

    def __init__(self, *args: Any, menu: Menu, **options: Any) -> None:
        super().__init__(*args, menu=menu, **options)
        currency = menu.venue.currency
        categories: Any = self.fields["category"]
        categories.queryset = MenuCategory.objects.filter(menu=menu).order_by("position", "name")
        categories.empty_label = None
        self.fields["ref"].required = False
        self.fields["price"].help_text = f"In {currency}, with at most {pricing.get_decimals(currency)} decimals"
        if not self.instance._state.adding:
            # Decimals: strings would not equal the parsed values, and every save would count as a change.
            self.initial["price"] = pricing.round_amount(self.instance.price, currency)
            self.initial["tax_percent"] = Decimal(pricing.format_percent(self.instance.tax_percent))
        elif not self.is_bound:
            self.initial["tax_percent"] = "0"

    def clean_ref(self) -> str:
        """Derive the id of a new dish from its name if none is given; that of an existing dish stays."""
        given: str = self.cleaned_data["ref"]
        return given or self.instance.ref or editing.derive_ref(self.menu, self.cleaned_data.get("name", ""))
