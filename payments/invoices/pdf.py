"""An invoice as PDF (fpdf2). The same statement gives the same bytes.

The font, DejaVu Sans, shows Latin, Greek, Cyrillic, Armenian and Georgian letters. Others are written in Latin letters
(anyascii): scripts that it does not have, and those that are written from right to left or need joined letters.
"""

import unicodedata
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from anyascii import anyascii
from django.conf import settings
from fontTools.ttLib import TTFont
from fpdf import FPDF
from fpdf.enums import XPos, YPos

from payments.chain.evm import to_checksum_address
from payments.chain.networks import payment_network
from payments.formatting import format_amount
from payments.invoices.statement import Statement

FONT_FILE = Path(__file__).with_name("DejaVuSans.ttf")
FONT = "DejaVu"
# Widths in mm of the columns; together the width of the page between its margins.
COLUMNS = (("Date", 22), ("Payment", 68), ("Product", 46), ("Wallet", 26), ("USDC", 28))
LINE_MM = 5.0
RIGHT_TO_LEFT = {"R", "AL", "AN"}
TITLES = {True: "Invoice", False: "Preliminary invoice"}


class Document(FPDF):
    """Pages with a footer that counts them."""

    def __init__(self, number: str) -> None:
        super().__init__()
        self.number = number
        self.add_font(FONT, fname=FONT_FILE)
        self.set_margin(10)
        self.set_auto_page_break(True, margin=18)

    def footer(self) -> None:
        self.set_y(-12)
        self.set_font(FONT, size=8)
        self.cell(0, 4, f"{self.number}, page {self.page_no()} of {{nb}}", align="C")

    def write_line(self, text: str, *, size: float = 9, height: float = LINE_MM) -> None:
        self.set_font(FONT, size=size)
        self.multi_cell(0, height, to_printable(text), new_x=XPos.LMARGIN, new_y=YPos.NEXT)

    def write_row(self, *cells: str) -> None:
        """Write a row of the table; a text that is too long ends with an ellipsis."""
        for (_, width), text in zip(COLUMNS, cells, strict=True):
            shown = to_printable(text)
            while self.get_string_width(shown) > width - 2:
                shown = shown.removesuffix("…")[:-1] + "…"
            self.cell(width, LINE_MM, shown, align="R" if width == COLUMNS[-1][1] else "L")
        self.ln()

    def write_head(self) -> None:
        self.set_font(FONT, size=8)
        self.write_row(*(title for title, _ in COLUMNS))
        self.line(self.l_margin, self.get_y(), self.w - self.r_margin, self.get_y())


def render_invoice(statement: Statement) -> bytes:
    """Return the PDF of a statement, A4. No query; two seconds for a thousand lines."""
    pdf = Document(statement.number)
    # Of the month, not of this call.
    pdf.set_creation_date(statement.month.until)
    pdf.set_title(f"{TITLES[statement.is_final]} {statement.number}")
    pdf.set_creator("Tablewire")
    pdf.add_page()
    pdf.write_line(TITLES[statement.is_final], size=18, height=10)
    pdf.write_line(f"Number {statement.number}")
    pdf.write_line(f"Month {statement.month.first:%B %Y}, in UTC")
    if not statement.is_final:
        pdf.write_line("The month has not ended: lines are added until then.")
    pdf.write_line(f"From Tablewire, {urlsplit(settings.PUBLIC_BASE_URL).netloc}")
    pdf.ln(LINE_MM)
    for line in (statement.name, *statement.address.splitlines()):
        pdf.write_line(line, size=11, height=6)
    pdf.ln(LINE_MM)
    for wallet in statement.wallets:
        pdf.write_line(f"Wallet {to_checksum_address(wallet)}", size=8, height=4)
    pdf.ln(LINE_MM)
    if statement.is_summed:
        pdf.write_line("Lines sum several payments: the CSV file of the payments on the dashboard has each.", size=8)
        pdf.ln(LINE_MM)
    pdf.write_head()
    for row in statement.lines:
        if pdf.will_page_break(LINE_MM):
            pdf.add_page()
            pdf.write_head()
        pdf.write_row(f"{row.at:%Y-%m-%d}", row.reference, row.text, row.wallet, format_amount(row.amount))
    # The sums stay together.
    if pdf.will_page_break(5 * LINE_MM):
        pdf.add_page()
    pdf.line(pdf.l_margin, pdf.get_y(), pdf.w - pdf.r_margin, pdf.get_y())
    pdf.ln(1)
    pdf.set_font(FONT, size=9)
    total = statement.charged - statement.refunded
    for label, amount in (("Payments", statement.charged), ("Refunds", -statement.refunded), ("Total", total)):
        pdf.write_row("", "", "", label, format_amount(amount))
    pdf.ln(LINE_MM)
    pdf.write_line(
        f"Paid in USDC on the network {payment_network().name}. The amounts are those of the ledger.", size=8, height=4
    )
    return bytes(pdf.output())


@cache
def _letters() -> frozenset[int]:
    """The code points that the font has a glyph for. Reads the font file once."""
    with TTFont(FONT_FILE, lazy=True) as font:
        return frozenset(font.getBestCmap())


def to_printable(text: str) -> str:
    """Return the text with letters that the font shows properly; others are written in Latin letters."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        letter
        if ord(letter) in _letters() and unicodedata.bidirectional(letter) not in RIGHT_TO_LEFT
        else anyascii(letter)
        for letter in unicodedata.normalize("NFC", text)
        if letter.isprintable()
    )
