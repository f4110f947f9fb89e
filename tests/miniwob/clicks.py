"""Players for tasks in which an element is found and clicked."""

import re

from page import player, quoted


@player("click-button", "click-test-2", "click-test-transfer", "unicode-test")
def click_button(page, asked):
    page.click("button", quoted(asked) if '"' in asked else re.search(r"Click button (\w+)", asked)[1])


@player("click-test", "click-dialog")
def click_only_button(page, _):
    page.click("button")


@player("click-button-sequence")
def click_button_sequence(page, _):
    page.click("button", "ONE")
    page.click("button", "TWO")


@player("click-link")
def click_link(page, asked):
    page.click("clickable", quoted(asked))


@player("button-delay")
def button_delay(page, asked):
    """The time is part of the question."""
    one, two = page.one("button", "ONE"), page.one("button", "TWO")
    page.act("click", one, settle="none")
    page.wait(int(re.search(r"wait (\d)", asked)[1]) * 1000 - 50)
    page.act("click", two, settle="none")


@player("click-dialog-2")
def click_dialog(page, asked):
    page.click("button", "Close" if quoted(asked) == "x" else quoted(asked))


@player("click-option")
def click_option(page, asked):
    page.click("radio", re.search(r"Select (.*) and click", asked)[1])
    page.submit()


@player("click-checkboxes", "click-checkboxes-large", "click-checkboxes-transfer")
def click_checkboxes(page, asked):
    wanted = re.search(r"Select (.*) and click", asked)[1].split(", ")
    for name in wanted if wanted != ["nothing"] else []:
        page.click("checkbox", name)
    page.submit()


@player("click-tab")
def click_tab(page, asked):
    page.click("tab", re.search(r"Tab #\d", asked)[0])


@player("click-collapsible", "click-collapsible-nodelay")
def click_collapsible(page, _):
    page.click("tab")
    page.click(name="Submit")


@player("click-tab-2", "click-tab-2-easy", "click-tab-2-medium", "click-tab-2-hard")
@player("click-collapsible-2", "click-collapsible-2-nodelay")
def click_link_in_part(page, asked):
    """The link is in one of the parts, of which one is open at a time."""
    for part in page.items("tab"):
        page.act("click", part)
        found = page.items("clickable", quoted(asked))
        if found:
            page.act("click", found[0])
            return


@player("click-menu")
def click_menu(page, asked):
    *above, last = asked.removeprefix("Select ").split(">")
    for name, below in zip(above, [*above[1:], last], strict=True):
        page.call("browser_hover", index=page.one("menuitem", name).index)
        page.until(lambda below=below: page.items("menuitem", below))
    page.click("menuitem", last)


@player("click-widget")
def click_widget(page, asked):
    page.click({"text": "textbox", "textarea": "textbox"}.get(quoted(asked), quoted(asked)))
