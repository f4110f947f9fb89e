"""Players for tasks in which text is typed."""

import re

from page import player, quoted

# The named colours of HTML.
COLORS = dict(
    pair.split()
    for pair in """black 000000, silver C0C0C0, gray 808080, white FFFFFF, maroon 800000, red FF0000, purple 800080,
    magenta FF00FF, green 008000, lime 00FF00, olive 808000, yellow FFFF00, navy 000080, blue 0000FF, teal 008080,
    aqua 00FFFF, gold FFD700, orange FFA500, pink FFC0CB""".split(",")
)


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


@player("focus-text")
def focus_only_text(page, _):
    page.click("textbox")


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
    page.copy(source, answer)
    page.submit()


@player("copy-paste-2")
def copy_paste_2(page, asked):
    """The texts are in the taller fields."""
    fields = page.boxes("textbox")
    answer = min(fields, key=lambda one: one["bbox"]["height"])
    sources = [one for one in fields if one is not answer]
    page.copy(sources[int(re.search(r"(\d)(st|nd|rd)", asked)[1]) - 1], answer)
    page.submit()


@player("simple-algebra")
def simple_algebra(page, _):
    left, sign, right, result = re.search(r"(?m)^(\w+) ([-+]) (\w+) = (-?\d+)$", page.text()).groups()
    known, result = int(right if left == "x" else left), int(result)
    page.type(str(result - known if sign == "+" else result + known if left == "x" else known - result))
    page.submit()


@player("text-transform")
def text_transform(page, _):
    page.type(page.text().splitlines()[1])
    page.submit()


@player("read-table-2")
def read_table_2(page, _):
    rows = dict(line.split(" | ") for line in page.text().splitlines() if " | " in line)
    for field in page.items("textbox"):
        page.act("type", field, text=rows[quoted(field.name).rstrip(":")])
    page.submit()


@player("multi-layouts", "multi-orderings")
def multi_layouts(page, asked):
    """The names of the fields and of the button differ from one layout to the next."""
    genre, director, year = re.search(r"for (\w+) movies directed by (\w+) from year (\d+)", asked).groups()
    for about, text in (("Genre", genre), ("Director", director), ("Year|Date", year)):
        page.act("type", page.near("textbox", about), text=text)
    page.act("click", next(one for one in page.items() if one.role != "textbox"))


@player("form-sequence-2")
def form_sequence_2(page, asked):
    radio, field = (int(place) - 1 for place in re.findall(r"(\d)(?:st|nd|rd)", asked))
    page.act("click", page.items("radio")[radio])
    page.type(quoted(asked), at=field)
    page.submit()


@player("sign-agreement")
def sign_agreement(page, asked):
    if "Scroll" in asked:
        page.call("browser_scroll", element_id=str(page.items("textbox")[0].index), to="bottom")
        name, button = re.findall(r'"(.*?)"', asked)
        page.type(name, at=1)
        page.click("button", button)
    else:
        page.click("button", "Cancel")


@player("use-colorwheel")
def use_colorwheel(page, asked):
    """The field of the colour picker takes the colour as a number."""
    page.type(COLORS[re.search(r"Select (\w+)", asked)[1]])
    page.submit()


@player("terminal")
def terminal(page, asked):
    """A file without an extension has no full stop in its name."""
    field = page.items("textbox")[0]
    page.act("type", field, text="ls", submit=True)
    files = page.text().split("user$ ls", 1)[1].splitlines()[1].split()
    extension = re.search(r"extension (\.\S+)", asked)
    wanted = next(one for one in files if (one.endswith(extension[1]) if extension else "." not in one))
    page.act("type", page.items("textbox")[0], text=f"rm {wanted}", submit=True)


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
