"""Players for tasks in which an element is found and clicked."""

import re

from page import player, quoted


@player("click-button", "unicode-test")
def click_button(page, asked):
    page.click("button", quoted(asked))


@player("click-button-sequence")
def click_button_sequence(page, _):
    page.click("button", "ONE")
    page.click("button", "TWO")


@player("click-link")
def click_link(page, asked):
    page.click("clickable", quoted(asked))


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


@player("click-tab-2", "click-collapsible-2")
def click_link_in_part(page, asked):
    """The link is in one of the parts, of which one is open at a time."""
    for part in page.items("tab"):
        page.act("click", part)
        page.wait(500)
        found = page.items("clickable", quoted(asked))
        if found:
            page.act("click", found[0])
            return


@player("click-menu")
def click_menu(page, asked):
    *above, last = asked.removeprefix("Select ").split(">")
    for name in above:
        page.hover("menuitem", name)
    page.click("menuitem", last)


@player("click-widget")
def click_widget(page, asked):
    page.click({"text": "textbox", "textarea": "textbox"}.get(quoted(asked), quoted(asked)))


@player("social-media")
def social_media(page, asked):
    """A user's icons have no names; they are identified by their order on the page."""
    user, action = re.search(r'user (\S+), click on the "(.*)" button', asked).groups()
    users = re.findall(r"@\w+", page.text().split("button.", 1)[1])
    icons = page.items("image")
    own = icons[users.index(user) * 4 :][:4]
    if action in ("Reply", "Retweet", "Like"):
        page.act("click", own[("Reply", "Retweet", "Like").index(action)])
    else:
        page.act("click", own[3])
        page.act("click", next(one for one in page.items() if one.name.startswith(action)))


@player("email-inbox")
def email_inbox(page, asked):
    """The icons of a mail follow it, without names: the bin, then the star."""
    sender = re.search(r"by (\w+) and", asked)[1]
    items = page.items()
    at = next(at for at, one in enumerate(items) if one.role == "clickable" and one.name.startswith(f"{sender} "))
    if "delete" in asked or "star" in asked:
        page.act("click", items[at + (1 if "delete" in asked else 2)])
        return
    page.act("click", items[at])
    if "reply" in asked:
        page.click("clickable", "Reply")
        page.type(quoted(asked))
    else:
        page.click("clickable", "Forward")
        page.type(re.search(r"forward that email to (\w+)", asked)[1])
    # One closes it, the other sends it.
    page.act("click", page.items("image")[1])
