"""Players for tasks in which text is typed."""

import re

from page import player, quoted


@player("enter-text", "enter-text-dynamic")
def enter_text(page, asked):
    page.type(quoted(asked))
    page.submit()


@player("enter-text-2")
def enter_text_2(page, asked):
    page.type(quoted(asked).upper() if "upper" in asked else quoted(asked).lower())
    page.submit()


@player("enter-password")
def enter_password(page, asked):
    for at in range(2):
        page.type(quoted(asked), at=at)
    page.submit()


@player("enter-date")
def enter_date(page, asked):
    month, day, year = re.search(r"(\d+)/(\d+)/(\d+)", asked).groups()
    page.type(f"{year}-{month}-{day}", role="date")
    page.submit()


@player("enter-time")
def enter_time(page, asked):
    hour, minute, half = re.search(r"(\d+):(\d+)\s*([AP])M", asked).groups()
    page.type(f"{int(hour) % 12 + (12 if half == 'P' else 0):02}:{minute}", role="time")
    page.submit()


@player("login-user")
def login_user(page, asked):
    for at, text in enumerate(re.findall(r'"(.*?)"', asked)):
        page.type(text, at=at)
    page.click("button", "Login")


@player("login-user-popup")
def login_user_popup(page, asked):
    """While a question is shown, the form is disabled."""
    for at, text in enumerate(re.findall(r'"(.*?)"', asked)):
        page.act("click", page.items("textbox")[at])
        if page.items("button", "Cancel"):
            page.click("button", "Cancel")
        page.type(text, at=at)
    page.click("button", "OK")


@player("focus-text-2")
def focus_text(page, asked):
    page.act("click", page.items("textbox")[int(re.search(r"(\d)(st|nd|rd)", asked)[1]) - 1])


@player("scroll-text")
def scroll_text(page, _):
    """The last word is copied: a field's content is not in the page's text."""
    area, answer = page.items("textbox")
    page.press("Control+End", area)
    for _ in range(2):
        page.press("Control+Shift+ArrowLeft")
    page.press("Control+c")
    page.press("Control+v", answer)
    page.submit()


@player("copy-paste")
def copy_paste(page, _):
    """The text is in the taller field."""
    answer, source = sorted(page.boxes("textbox"), key=lambda one: one["bbox"]["height"])
    page.call("browser_press", key="Control+a", id=source["id"])
    page.press("Control+c")
    page.call("browser_press", key="Control+v", id=answer["id"])
    page.submit()


@player("simple-arithmetic")
def simple_arithmetic(page, _):
    one, sign, other = re.search(r"(\d) ([-+x]) (\d) =", page.text()).groups()
    one, other = int(one), int(other)
    page.type(str({"+": one + other, "-": one - other, "x": one * other}[sign]))
    page.submit()


@player("read-table")
def read_table(page, asked):
    rows = dict(line.split(" | ") for line in page.text().splitlines() if " | " in line)
    page.type(rows[re.search(r"value of (.*) into", asked)[1]])
    page.submit()


@player("find-word")
def find_word(page, asked):
    # The question is the first line.
    paragraph = page.text().splitlines()[1]
    page.type(re.sub(r"\W", "", paragraph.split()[int(re.search(r"the (\d+)", asked)[1]) - 1]))
    page.submit()


@player("guess-number")
def guess_number(page, _):
    low, high = 0, 9
    while low <= high:
        guess = (low + high) // 2
        page.type(str(guess), role="spinbutton")
        page.submit()
        feedback = page.text()
        if f"lower than {guess}" in feedback:
            high = guess - 1
        elif f"higher than {guess}" in feedback:
            low = guess + 1
        else:
            return


@player("search-engine")
def search_engine(page, asked):
    name, place = re.search(r'enter "(.*)" and press .* the (\d+)', asked).groups()
    page.type(name, role="textbox")
    page.click("button", "Search")
    number, at = divmod(int(place) - 1, 3)
    if number:
        page.click("link", str(number + 1))
    page.act("click", [one for one in page.items("link") if one.name not in ("<", "1", "2", "3", ">")][at])
