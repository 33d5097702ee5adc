"""The menu of the demo restaurant."""

from decimal import Decimal

from django.db import transaction

from accounts.models import Venue
from orders.models import Menu, MenuItem

# Italian VAT: on food and soft drinks, and on wine and spirits to take along.
FOOD, WINE = Decimal(10), Decimal(22)
CARD: dict[str, list[tuple[str, str, str, str, Decimal]]] = {
    "Antipasti": [
        ("bruschetta", "Bruschetta al pomodoro", "Grilled bread, tomato, garlic, basil", "6.50", FOOD),
        ("suppli", "Supplì al telefono", "Two fried rice croquettes with mozzarella", "5.00", FOOD),
        ("carciofi-alla-romana", "Carciofi alla romana", "Artichokes braised with mint", "9.00", FOOD),
        ("burrata", "Burrata e acciughe", "Burrata with Cantabrian anchovies", "12.00", FOOD),
        ("tagliere", "Tagliere misto", "Cured meats and cheeses of Lazio, for two", "18.00", FOOD),
    ],
    "Primi e pizze": [
        ("carbonara", "Spaghetti alla carbonara", "Guanciale, egg, pecorino", "12.50", FOOD),
        ("cacio-e-pepe", "Tonnarelli cacio e pepe", "Pecorino romano, black pepper", "11.50", FOOD),
        ("amatriciana", "Rigatoni all'amatriciana", "Guanciale, tomato, pecorino", "12.00", FOOD),
        ("gnocchi", "Gnocchi al pomodoro", "Potato dumplings, tomato, basil", "10.50", FOOD),
        ("margherita", "Pizza Margherita", "Tomato, mozzarella, basil", "9.50", FOOD),
        ("marinara", "Pizza Marinara", "Tomato, garlic, oregano; no cheese", "7.50", FOOD),
        ("diavola", "Pizza Diavola", "Tomato, mozzarella, spicy salami", "11.00", FOOD),
    ],
    "Dolci": [
        ("tiramisu", "Tiramisù", "Made in the morning", "6.50", FOOD),
        ("panna-cotta", "Panna cotta", "With wild berries", "6.00", FOOD),
        ("maritozzo", "Maritozzo con la panna", "Sweet bun with whipped cream", "4.50", FOOD),
    ],
    "Da bere": [
        ("acqua", "Acqua minerale", "75 cl, still or sparkling", "3.00", FOOD),
        ("chinotto", "Chinotto", "20 cl", "3.50", FOOD),
        ("espresso", "Espresso", "", "1.50", FOOD),
        ("frascati", "Frascati Superiore", "Bottle, 75 cl", "19.00", WINE),
        ("cesanese", "Cesanese del Piglio", "Bottle, 75 cl", "24.00", WINE),
        ("amaro", "Amaro", "4 cl", "5.00", WINE),
    ],
}


def load(venue: Venue) -> None:
    """Publish this menu for the venue, unless it has a menu."""
    with transaction.atomic():
        menu, is_new = Menu.objects.get_or_create(venue=venue, defaults={"is_published": True})
        if not is_new:
            return
        for position, (name, dishes) in enumerate(CARD.items()):
            category = menu.categories.create(name=name, position=position)
            MenuItem.objects.bulk_create(
                MenuItem(
                    menu=menu,
                    category=category,
                    ref=ref,
                    name=dish,
                    description=description,
                    price=Decimal(price),
                    tax_percent=tax_percent,
                    position=item_position,
                )
                for item_position, (ref, dish, description, price, tax_percent) in enumerate(dishes)
            )
