"""Dashboard forms for dishes, categories and modifier groups."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.db import transaction
from django.db.models import TextChoices
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy
from PIL import Image

from framework.django_internals import ValidatesUniqueness
from framework.forms.optimistic_concurrency import ChangedFieldsForm, ConflictCheckForm
from framework.images.uploads import ACCEPT, HELP_TEXT, InvalidImage, read_image
from orders import pricing
from orders.menu import editing, group_rules, photos
from orders.menu.decimals import convert_decimal_comma
from orders.menu.serializers import MAX_STOCK
from orders.menu.translation_widget import TranslationsWidget
from orders.models import Allergen, Diet, ItemModifierGroup, Menu, MenuCategory, MenuItem, Modifier, ModifierGroup

CLOCK = forms.TimeInput(format="%H:%M", attrs={"type": "time"})


NAME = gettext_lazy("Name")
# Labels of more than one form.
LABELS = {
    "name": NAME,
    "ref": gettext_lazy("Id"),
    "price": gettext_lazy("Price"),
    "translations": gettext_lazy("Translations"),
    "is_available": pgettext_lazy("dish", "Available"),
}


def list_choices(choices: type[TextChoices]) -> list[tuple[str, str]]:
    """Return the values and labels, in the current language, with a capital letter."""
    return [(value, _(label).capitalize()) for value, label in choices.choices]


class AllergensAndPhotoForm(ChangedFieldsForm):
    """The allergens and diets of a dish as checkboxes, and its photo: uploaded, replaced or removed.

    For all forms of dishes.
    """

    allergens = forms.MultipleChoiceField(
        label=gettext_lazy("Allergens"),
        choices=partial(list_choices, Allergen),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    diets = forms.MultipleChoiceField(
        label=gettext_lazy("Diets"),
        choices=partial(list_choices, Diet),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    file = forms.FileField(
        label=gettext_lazy("Photo"),
        required=False,
        help_text=HELP_TEXT,
        widget=forms.FileInput(attrs={"accept": ACCEPT}),
    )
    removes_photo = forms.BooleanField(label=gettext_lazy("Remove the photo"), required=False)

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
        if not self.image and self.cleaned_data.get("removes_photo"):
            photos.set_photo(self.instance, None)

    def save_photo(self, *, actor: str) -> None:
        """Store an uploaded photo after the commit, because a file is written only after its row is committed."""
        if self.image:
            transaction.on_commit(
                partial(editing.replace_photo, self.instance, self.image, actor=actor, now=timezone.now())
            )


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
        error_messages = {
            NON_FIELD_ERRORS: {"unique_together": gettext_lazy("A category with this name already exists.")}
        }
        fields = ["name", "served_from", "served_until", "translations"]
        widgets = {"served_from": CLOCK, "served_until": CLOCK, "translations": TranslationsWidget({"name": NAME})}
        labels = {
            **LABELS,
            "served_from": gettext_lazy("Served from"),
            "served_until": gettext_lazy("Served until"),
        }
        help_texts = {
            "name": gettext_lazy("For example: Pizza, Desserts, Lunch"),
            "served_from": gettext_lazy("Leave empty if always served"),
            "served_until": gettext_lazy("End time. If it is earlier than the start, it is on the next day"),
            "translations": gettext_lazy("By language: da, de, de-AT"),
        }


class CommaDecimalField(forms.DecimalField):
    """A number that may have a decimal comma."""

    default_error_messages: ClassVar = {"invalid": gettext_lazy("Enter a number such as 9.50.")}

    def to_python(self, value: Any) -> Any:
        return super().to_python(convert_decimal_comma(value) if isinstance(value, str) else value)


class ItemForm(AllergensAndPhotoForm, MenuRowForm):
    """A dish. The current time zone must be that of the venue."""

    class Meta:
        model = MenuItem
        field_classes = dict.fromkeys(("price", "tax_percent", "takeaway_tax_percent"), CommaDecimalField)
        error_messages = {NON_FIELD_ERRORS: {"unique_together": gettext_lazy("A dish with this id already exists.")}}
        fields = [
            *("name", "ref", "category", "price", "tax_percent", "takeaway_tax_percent", "description", "allergens"),
            *("diets", "station", "prep_minutes", "stock", "translations", "is_available", "sold_out_until"),
        ]
        widgets = {
            **dict.fromkeys(
                ("price", "tax_percent", "takeaway_tax_percent"), forms.TextInput(attrs={"inputmode": "decimal"})
            ),
            **dict.fromkeys(
                ("prep_minutes", "stock"), forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"})
            ),
            "station": forms.TextInput(attrs={"list": "stations", "autocomplete": "off"}),
            "translations": TranslationsWidget({"name": NAME, "description": gettext_lazy("Description")}),
            "sold_out_until": forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        }
        labels = {
            **LABELS,
            "category": gettext_lazy("Category"),
            "tax_percent": gettext_lazy("Tax in percent"),
            "takeaway_tax_percent": gettext_lazy("Takeaway tax in percent"),
            "description": gettext_lazy("Description"),
            "station": gettext_lazy("Station"),
            "prep_minutes": gettext_lazy("Preparation minutes"),
            "stock": gettext_lazy("Portions left"),
            "sold_out_until": gettext_lazy("Sold out until"),
        }
        help_texts = {
            "ref": gettext_lazy(
                "The menu_item_id that API clients use. Leave empty to derive it from the name: pizza-margherita"
            ),
            "takeaway_tax_percent": gettext_lazy("For pick-up and delivery. Leave empty for the same tax"),
            "station": gettext_lazy("Where it is made: grill, bar"),
            "prep_minutes": gettext_lazy("Only if it takes longer than your orders usually do"),
            "stock": gettext_lazy("Each order takes its own. Leave empty if they are not counted"),
            "translations": gettext_lazy("By language: da, de, de-AT. Leave empty what is not translated"),
            "is_available": gettext_lazy("If off, the dish cannot be ordered"),
            "sold_out_until": gettext_lazy("By the venue's clock. Then the dish is available again by itself"),
        }

    groups = forms.MultipleChoiceField(
        label=gettext_lazy("Modifier groups"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("Sizes, extras, sides"),
    )
    field_order = ["name", "category", "price", "tax_percent", "description", "file", "removes_photo", "is_available"]

    def __init__(self, *args: Any, menu: Menu, **options: Any) -> None:
        super().__init__(*args, menu=menu, **options)
        currency = menu.venue.currency
        categories: Any = self.fields["category"]
        categories.queryset = MenuCategory.objects.filter(menu=menu).order_by("position", "name")
        categories.empty_label = None
        self.fields["ref"].required = False
        groups: Any = self.fields["groups"]
        groups.choices = ModifierGroup.objects.filter(menu=menu).order_by("ref").values_list("ref", "name")
        # Not a column: the last one who saves the form wins.
        groups.show_hidden_initial = False
        self.initial["groups"] = list(
            ItemModifierGroup.objects.filter(item=self.instance.pk).values_list("group__ref", flat=True)
        )
        if not groups.choices:
            del self.fields["groups"]
        help_text = _("In %(currency)s, with at most %(decimals)s decimals")
        values = {"currency": currency, "decimals": pricing.get_decimals(currency)}
        self.fields["price"].help_text = help_text % values
        if not self.instance._state.adding:
            # Decimals: strings would not equal the parsed values, and every save would count as a change.
            self.initial["price"] = pricing.round_amount(self.instance.price, currency)
            for name in ("tax_percent", "takeaway_tax_percent"):
                percent = getattr(self.instance, name)
                self.initial[name] = None if percent is None else Decimal(pricing.format_percent(percent))
            until = self.instance.get_sold_out_until(timezone.localtime(menu.venue.now()))
            # To the minute, as it is entered.
            self.initial["sold_out_until"] = until and until.replace(second=0, microsecond=0)
        elif not self.is_bound:
            self.initial["tax_percent"] = "0"

    def clean_ref(self) -> str:
        """Derive the id of a new dish from its name if none is given; that of an existing dish stays."""
        given: str = self.cleaned_data["ref"]
        return given or self.instance.ref or derive_ref(MenuItem, self.menu, self.cleaned_data.get("name", ""), "dish")

    def clean_sold_out_until(self) -> datetime | None:
        until: datetime | None = self.cleaned_data["sold_out_until"]
        if until and until <= self.menu.venue.now() and "sold_out_until" in self.changed_data:
            raise forms.ValidationError(_("Enter a time in the future, or none."))
        return until

    def save_changes(self) -> None:
        super().save_changes()
        if "sold_out_until" in self.changed_data:
            # The moment also replaces the day.
            MenuItem.objects.filter(pk=self.instance.pk).update(sold_out_on=None)
        if "groups" in self.changed_data:
            self.save_groups()

    def save_groups(self) -> None:
        """Ask for the chosen groups: for new ones last, in the order of the form."""
        chosen = self.cleaned_data["groups"]
        links = ItemModifierGroup.objects.filter(item=self.instance)
        links.exclude(group__ref__in=chosen).delete()
        kept = dict(links.values_list("group__ref", "position"))
        groups = ModifierGroup.objects.filter(menu=self.menu, ref__in=chosen).exclude(ref__in=kept).order_by("ref")
        for position, group in enumerate(groups, max(kept.values(), default=-1) + 1):
            links.create(menu=self.menu, item=self.instance, group=group, position=position)


def derive_ref(model: type[MenuItem | ModifierGroup], menu: Menu, name: str, default: str) -> str:
    """Return an id that no row of the menu has. One query."""
    return editing.derive_ref(
        name, set(model.objects.filter(menu=menu).values_list("ref", flat=True)), default=default
    )


class SoldOutForm(forms.Form):
    until = forms.TimeField(required=False, input_formats=["%H:%M"])


class StockForm(forms.Form):
    stock = forms.IntegerField(min_value=0, max_value=MAX_STOCK, required=False)


class ModifierGroupForm(MenuRowForm):
    class Meta:
        model = ModifierGroup
        error_messages = {NON_FIELD_ERRORS: {"unique_together": gettext_lazy("A group with this id already exists.")}}
        fields = ["name", "ref", "min_choices", "max_choices", "translations"]
        widgets = {"translations": TranslationsWidget({"name": NAME})}
        labels = {
            **LABELS,
            "min_choices": gettext_lazy("Choose at least"),
            "max_choices": gettext_lazy("Choose at most"),
        }
        help_texts = {
            "name": gettext_lazy("What the guest chooses: Size, Extras"),
            "ref": gettext_lazy("Without spaces. Leave empty to derive it from the name"),
            "min_choices": gettext_lazy("0: the guest may choose nothing"),
            "translations": gettext_lazy("By language: da, de, de-AT"),
        }

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["ref"].required = False

    def clean_ref(self) -> str:
        given: str = self.cleaned_data["ref"]
        name = self.cleaned_data.get("name", "")
        return given or self.instance.ref or derive_ref(ModifierGroup, self.menu, name, "group")


class ModifierForm(ConflictCheckForm):
    class Meta:
        model = Modifier
        fields = ["name", "ref", "price_delta", "is_default", "is_available", "item", "nested_group"]
        field_classes = {"price_delta": CommaDecimalField}
        widgets = {"price_delta": forms.TextInput(attrs={"inputmode": "decimal"})}
        labels = {
            **LABELS,
            "price_delta": gettext_lazy("Price"),
            "is_default": gettext_lazy("Chosen by default"),
            "item": gettext_lazy("Is the dish"),
            "nested_group": gettext_lazy("Asks for"),
        }
        help_texts = {"price_delta": "", "is_default": ""}

    def __init__(self, *args: Any, menu: Menu, choices: Mapping[str, Any], **options: Any) -> None:
        super().__init__(*args, **options)
        self.instance.menu = menu
        self.fields["ref"].required = False
        for name, rows in choices.items():
            field: Any = self.fields[name]
            field.queryset = field.queryset.filter(menu=menu)
            # Read once for all forms.
            field.choices = [("", "---------"), *((row.pk, row.name) for row in rows)]
        self.initial["price_delta"] = pricing.round_amount(self.instance.price_delta, menu.venue.currency)


class ModifierFormSet(forms.BaseInlineFormSet[Modifier, ModifierGroup, ModifierForm]):
    """The modifiers of a group as rows, in the order of their numbers."""

    def __init__(self, *args: Any, menu: Menu, **options: Any) -> None:
        self.menu = menu
        own = options["instance"].pk
        groups = ModifierGroup.objects.filter(menu=menu).exclude(pk=own).exclude(modifiers__nested_group__isnull=False)
        choices = {
            "item": list(MenuItem.objects.filter(menu=menu).order_by("name", "id")),
            "nested_group": list(groups.order_by("name", "id")),
        }
        super().__init__(*args, form_kwargs={"menu": menu, "choices": choices}, **options)

    @property
    def kept_forms(self) -> list[Any]:
        """The rows that are stored, in their order."""
        kept = [
            form for form in self.forms if form.has_changed() or (form.instance.pk and not form.instance._state.adding)
        ]
        kept = [form for form in kept if not form.cleaned_data.get("DELETE")]
        numbers = [(form.cleaned_data.get("ORDER") or MAX_MODIFIERS, index) for index, form in enumerate(kept)]
        return [kept[index] for _number, index in sorted(numbers)]

    def clean(self) -> None:
        if any("id" in errors for errors in self.errors):
            message = _("A modifier was just deleted by another user or program. Open the page again.")
            raise forms.ValidationError(message)
        if any(self.errors):
            return
        rows = self.kept_forms
        others = Modifier.objects.filter(menu=self.menu).exclude(group=self.instance.pk)
        used = set(others.values_list("ref", flat=True))
        given = [form.instance.ref for form in rows if form.instance.ref]
        for form in rows:
            if form.instance.ref and (form.instance.ref in used or given.count(form.instance.ref) > 1):
                form.add_error("ref", _("Another modifier has this id."))
        used |= set(given)
        for form in rows:
            if not form.instance.ref:
                form.instance.ref = editing.derive_ref(form.instance.name, used, default="modifier")
                used.add(form.instance.ref)
        check_group(self, [form.instance for form in rows])

    def save_rows(self) -> None:
        """Store the rows of a stored group, and delete those that were ticked."""
        for form in self.deleted_forms:
            if not form.instance._state.adding:
                form.instance.delete()
        for position, form in enumerate(self.kept_forms):
            is_moved = form.instance.position != position and not form.instance._state.adding
            form.instance.group = self.instance
            form.instance.position = position
            form.save()
            if is_moved:
                form.instance.save(update_fields=["position"])


def check_group(rows: forms.BaseInlineFormSet[Any, Any, Any], kept: Sequence[Modifier]) -> None:
    """Raise ValidationError unless the group can be asked with these modifiers and those that were added meanwhile."""
    if None in (rows.instance.min_choices, rows.instance.max_choices):
        # The form of the group has errors.
        return
    shown = {form.instance.pk for form in rows.forms}
    added = [row for row in rows.get_queryset() if row.pk not in shown]
    if message := group_rules.find_error(rows.instance, [*kept, *added]):
        raise forms.ValidationError(message)


MAX_MODIFIERS = 100
ModifierRows = forms.inlineformset_factory(
    ModifierGroup,
    Modifier,
    form=ModifierForm,
    formset=ModifierFormSet,
    fk_name="group",
    extra=3,
    can_order=True,
    max_num=MAX_MODIFIERS,
    validate_max=True,
)
