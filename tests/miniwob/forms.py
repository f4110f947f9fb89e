"""Players for a flight search, a calendar and an editor, and for text that is selected."""

import datetime
import re

from page import player, quoted
from widgets import pick_date

# The columns of colours in the editor's palette, whose cells have no names.
PALETTE = ("black", "red", "orange", "yellow", "green", "blue", "purple")


@player("book-flight", "book-flight-nodelay")
def book_flight(page, asked):
    start, end, date = re.search(r"from: (.*) to: (.*) on ([\d/]+)", asked).groups()
    for at, place in enumerate((start, end)):
        # An airport is written "Dubois, PA (DUJ)"; the question names its place or its code.
        airport = f"({place})" if re.fullmatch("[A-Z]{3}", place) else f"{place} ("
        page.type(airport, at=at)
        page.wait_for(airport)
        page.act("click", next(one for one in page.items("listitem") if airport in one.name))
    page.act("click", page.items("textbox")[2])
    pick_date(page, datetime.datetime.strptime(date, "%m/%d/%Y"))
    page.click("button", "Search")
    flights = [one for one in page.items("button") if one.name.startswith("Book flight")]
    if "cheapest" in asked:
        worth = [int(one.name.split("$")[1]) for one in flights]
    else:
        worth = [int(hours) * 60 + int(minutes) for hours, minutes in re.findall(r"(\d+)h (\d+)m", page.text())]
    page.act("click", flights[worth.index(min(worth))])


@player("daily-calendar")
def daily_calendar(page, asked):
    """Each half hour is an element; those that have an event are covered."""
    amount, unit = re.search(r"a ([\d.]+) (mins|hours?)", asked).groups()
    hour, half = re.search(r"between (\d+)([AP])M", asked).groups()
    halves = round(float(amount) / 30 if unit == "mins" else float(amount) * 2)
    first = (int(hour) % 12 + (12 if half == "P" else 0)) * 2
    page.call("browser_scroll", element_id=str(page.items("clickable")[first + 4].index), to="elementId")
    window = page.items("clickable")[first : first + 8]
    at = next(at for at in range(8) if not any(one.marks for one in window[at : at + halves]))
    page.drag(window[at], window[at + halves - 1])
    page.type(quoted(asked))
    page.click("button", "Create")


@player("text-editor")
def text_editor(page, asked):
    """The buttons have no names; they are identified by their order on the page."""
    editor = page.items("textbox")[0]
    text = page.text().splitlines()[1]
    word = re.search(r"give the text (\S+) the", asked)
    page.press("Control+a" if not word else "Control+Home", editor)
    for key, times in (("ArrowRight", text.index(word[1])), ("Shift+ArrowRight", len(word[1]))) if word else ():
        for _ in range(times):
            page.press(key)
    colours, *styles = [one for one in page.items() if not one.name and one.role in ("button", "clickable")]
    color = re.search(r"color (\w+)", asked)
    if color:
        page.act("click", colours)
        cells = [one for one in page.items("clickable") if not one.name][1:]
        page.act("click", cells[PALETTE.index(color[1])])
    else:
        page.act("click", styles[("bold", "italics", "underlined").index(re.search(r"style (\w+)", asked)[1])])
    page.submit()


@player("highlight-text", "highlight-text-2")
def highlight_text(page, asked):
    """All text but the task's question and the button, or one of its paragraphs."""
    lines = page.text().partition("Last reward:")[0].splitlines()[1:]
    lines = [line for line in lines if line != "Submit"]
    which = re.search(r"the (\d).. paragraph", asked)
    page.call("browser_select_text", text=lines[int(which[1]) - 1] if which else " ".join(lines))
    page.submit()
