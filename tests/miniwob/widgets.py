"""Players for tasks with lists, dates and sliders, and with scrolling and dragging."""

import datetime
import re

from page import player, quoted


@player("choose-list", "click-scroll-list")
def choose_list(page, asked):
    wanted = re.search(r"Select (.*) from the", asked)[1]
    for choice in wanted.split(", ") if "scroll list" in asked else [wanted]:
        page.act("select", (page.items("combobox") or page.items("listbox"))[0], text=choice)
    page.submit()


def pick_date(page, wanted):
    """In an open date picker."""
    page.wait_for("Prev")
    for _ in range(12):
        shown = datetime.datetime.strptime(re.search(r"(?m)^[^\w]*([A-Z][a-z]+ 20\d\d)", page.text())[1], "%B %Y")
        if (shown.year, shown.month) == (wanted.year, wanted.month):
            break
        page.click(name="Prev" if shown > wanted else "Next")
    page.click("link", str(wanted.day))


@player("choose-date", "choose-date-easy", "choose-date-medium", "choose-date-nodelay")
def choose_date(page, asked):
    page.click("textbox")
    pick_date(page, datetime.datetime.strptime(re.search(r"\d+/\d+/\d+", asked)[0], "%m/%d/%Y"))
    page.submit()


@player("use-slider", "form-sequence")
def use_slider(page, asked):
    """The value has a line of its own."""
    handle = next(one for one in page.items("clickable") if not one.name)
    page.press("Home", handle)
    least = int(re.search(r"(?m)^(-?\d+)$", page.text())[1])
    for _ in range(int(re.search(r"Select (-?\d+)", asked)[1]) - least):
        page.press("ArrowRight", handle)
    if "checkbox" in asked:
        page.act("click", page.items("checkbox")[int(re.search(r"(\d)(st|nd|rd)", asked)[1]) - 1])
    page.submit()


@player("use-slider-2")
def use_slider_2(page, asked):
    """A handle has no name; it is at 0 after Home."""
    handles = page.items("clickable")
    for handle, value in zip(handles, re.search(r"\[(.*)\]", asked)[1].split(","), strict=True):
        page.press("Home", handle)
        for _ in range(int(value)):
            page.press("ArrowRight", handle)
    page.submit()


@player("use-spinner")
def use_spinner(page, asked):
    wanted = int(re.search(r"Select (-?\d+)", asked)[1])
    up, down = (one for one in page.items("button") if one.name != "Submit")
    for _ in range(abs(wanted)):
        page.act("click", up if wanted > 0 else down)
    page.submit()


@player("use-autocomplete", "use-autocomplete-nodelay")
def use_autocomplete(page, asked):
    start, *end = re.findall(r'"(.*?)"', asked)
    page.type(start)
    offered = page.until(lambda: re.findall(r"(?m)^- (.*)$", page.text()))
    at = next(at for at, name in enumerate(offered) if name.endswith(end[0] if end else ""))
    for _ in range(at + 1):
        page.press("ArrowDown")
    page.press("Enter")
    page.submit()


@player("scroll-text-2")
def scroll_text(page, asked):
    to = "bottom" if "bottom" in asked else "top"
    page.call("browser_scroll", element_id=str(page.one("textbox").index), to=to)
    page.submit()


@player("drag-box")
def drag_box(page, _):
    page.drag(page.one(name="s"), page.one(name="L"))
    page.submit()


@player("drag-items")
def drag_items(page, asked):
    name, where = re.search(r"Drag (\w+) (.*)\.", asked).groups()
    items = page.items("listitem")
    at = next(at for at, one in enumerate(items) if one.name == name)
    places = {"to the top": 0, "to the bottom": 4, "down by one position": at + 1, "up by one position": at - 1}
    place = places[where] if where in places else int(re.search(r"\d", where)[0]) - 1
    page.drag(items[at], items[place])


@player("drag-items-grid")
def drag_items_grid(page, asked):
    name, where = re.search(r"Drag (\w+) (.*)\.", asked).groups()
    items = page.items("listitem")
    at = next(at for at, one in enumerate(items) if one.name == name)
    steps = {"up by one": -3, "down by one": 3, "left by one": -1, "right by one": 1}
    rows, columns = ("top", "center", "bottom"), ("left", "center", "right")
    if where in steps:
        place = at + steps[where]
    else:
        row, _, column = where.removeprefix("to the ").partition(" ")
        place = rows.index(row) * 3 + columns.index(column or "center")
    page.drag(items[at], items[place])


@player("form-sequence-3")
def form_sequence_3(page, asked):
    page.click("clickable")
    page.click("listitem", re.search(r"Choose (.*) from", asked)[1])
    page.click("button", quoted(asked))


@player("drag-sort-numbers")
def drag_sort_numbers(page, _):
    for place in range(3):
        items = page.items("listitem")
        least = min(items[place:], key=lambda one: int(one.name))
        if least != items[place]:
            page.drag(least, items[place])
    page.submit()


WAYS = {"left": (-15, 0), "right": (15, 0), "up": (0, -15), "down": (0, 15)}


@player("drag-circle", "drag-single-shape")
def drag_shape(page, asked):
    shape = next(one for one in page.items() if one.name != "Submit")
    page.drag_by(*WAYS[re.search(r"(left|right|up|down) then", asked)[1]], **{"from": shape.index})
    page.submit()


@player("resize-textarea")
def resize_textarea(page, asked):
    """The handle is in the lower right corner, and no element of the list."""
    box = page.boxes("textbox")[0]["bbox"]
    far = 15 if "larger" in asked else -15
    page.drag_by(far, far, x=box["x"] + box["width"] - 6, y=box["y"] + box["height"] - 6)
    page.submit()


@player("hot-cold")
def hot_cold(page, _):
    """Each place of the mouse tells how far away the place is that is looked for."""
    bands = {"HOT": (0, 5), "WARM": (5, 10), "COLD": (10, 40), "ICE COLD": (40, 999)}
    left = [(x, y) for x in range(5, 155) for y in range(5, 120)]
    while left:
        x, y = left[len(left) // 2]
        page.call("browser_hover", x=x, y=y + 50, settle="none")
        told = next(line for line in page.text().splitlines() if line in bands)
        if told == "HOT":
            return page.call("browser_overlay_act", action="click", x=x, y=y + 50)
        least, most = bands[told]
        left = [(a, b) for a, b in left if least <= ((a - x) ** 2 + (b - y) ** 2) ** 0.5 < most]
    raise LookupError("the answers do not agree")
