"""Players for the inbox and the social network. Icons have no names; they are identified by their order on the page."""

import re

from page import player, quoted


def answer(page, button, text):
    page.click("clickable", button)
    page.type(text)
    # One icon closes it, the other sends it.
    page.act("click", page.items("image")[1])


def do_with_mail(page, task, sender, text):
    """The icons of a mail follow it: the bin, then the star."""
    items = page.items()
    at = next(at for at, one in enumerate(items) if one.role == "clickable" and one.name.startswith(f"{sender} "))
    if task in ("delete", "important"):
        page.act("click", items[at + ("delete", "important").index(task) + 1])
        return
    page.act("click", items[at])
    answer(page, task.title(), text)


@player(
    "email-inbox",
    "email-inbox-delete",
    "email-inbox-forward",
    "email-inbox-important",
    "email-inbox-noscroll",
    "email-inbox-reply",
    "email-inbox-star-reply",
)
def email_inbox(page, asked):
    sender = re.search(r"by (\w+) and", asked)[1]
    if "delete" in asked or "star" in asked:
        do_with_mail(page, "delete" if "delete" in asked else "important", sender, None)
    elif "reply" in asked:
        do_with_mail(page, "reply", sender, quoted(asked))
    else:
        do_with_mail(page, "forward", sender, re.search(r"forward that email to (\w+)", asked)[1])


@player("email-inbox-forward-nl", "email-inbox-forward-nl-turk", "email-inbox-nl-turk")
def email_inbox_nl(page, asked):
    """The question is free text; the task gives what it means beside it."""
    meant = asked["fields"]
    do_with_mail(page, meant.get("task", "forward"), meant["by"], meant.get("message", meant.get("to")))


def icons_of(page, user, after):
    """The icons of each post of this user: reply, retweet, like, and share or more."""
    users = re.findall(r"@\w+", page.text().split(after, 1)[1])
    icons = page.items("image")
    return [icons[at * 4 :][:4] for at, name in enumerate(users) if name == user]


@player("social-media")
def social_media(page, asked):
    user, action = re.search(r'user (\S+), click on the "(.*)" button', asked).groups()
    own = icons_of(page, user, "button.")[0]
    if action in ("Reply", "Retweet", "Like"):
        page.act("click", own[("Reply", "Retweet", "Like").index(action)])
    else:
        page.act("click", own[3])
        # The menu opens after the click.
        page.act("click", page.until(lambda: next((one for one in page.items() if one.name.startswith(action)), None)))


@player("social-media-all", "social-media-some")
def social_media_posts(page, asked):
    action, most, user = re.search(r'Click the "(\w+)" button on (\w+) posts? by (\S+) and', asked).groups()
    posts = icons_of(page, user, "Submit.")
    for own in posts if most == "all" else posts[: int(most)]:
        page.act("click", own[("Reply", "Retweet", "Like", "Share").index(action)])
    page.submit()
