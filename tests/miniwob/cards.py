"""Players for tasks in which one of several things is chosen by its text or its number."""

import re

from page import player, quoted


@player("buy-ticket")
def buy_ticket(page, asked):
    """The tickets are listed in the order of their durations."""
    durations = [int(hours) * 60 + int(minutes) for hours, minutes in re.findall(r"(\d+)h (\d+)m", page.text())]
    tickets = page.items("button")
    prices = [int(one.name.split("$")[1]) for one in tickets]
    worth = prices if "cost" in asked else durations
    best = min(worth) if "cheapest" in asked or "shortest" in asked else max(worth)
    page.act("click", tickets[worth.index(best)])


@player("find-greatest")
def find_greatest(page, _):
    page.act("click", max(page.items("clickable"), key=lambda one: int(one.name)))
    page.submit()


@player("grid-coordinate")
def grid_coordinate(page, asked):
    page.click(name=re.search(r"\(.*\)", asked)[0])


@player("odd-or-even")
def odd_or_even(page, _):
    numbers = re.findall(r"(?m)^-?\d+$", page.text())
    buttons = [one for one in page.items("button") if one.name != "Submit"]
    for at, number in enumerate(numbers):
        page.act("click", buttons[2 * at + (int(number) % 2 == 0)])
    page.submit()


@player("generate-number")
def generate_number(page, asked):
    limit = int((re.search(r"\d+", asked) or "0")[0])
    for _ in range(50):
        page.click("button", "Generate")
        number = int(re.search(r"(?m)^\d+$", page.text())[0])
        if (
            ("odd" in asked and number % 2)
            or ("even" in asked and number % 2 == 0)
            or ("less" in asked and number < limit)
            or ("greater" in asked and number > limit)
        ):
            break
    page.submit()


@player("phone-book")
def phone_book(page, asked):
    name, kind = re.search(r"Find (\w+) in .* their (phone|email|address)", asked).groups()
    while f"# {name}\n" not in page.text():
        page.click("link", ">")
    page.act("click", page.items("link")[("phone", "email", "address").index(kind)])


@player("navigate-tree")
def navigate_tree(page, asked):
    """A folder that is closed has a picture before it, without a name."""
    wanted = quoted(asked)
    for _ in range(20):
        items = page.items()
        found = [one for one in items if one.name == wanted]
        if found:
            page.act("click", found[0])
            return
        page.act("click", next(one for one in items if one.name.startswith("(icon ")))


@player("order-food")
def order_food(page, asked):
    """A dish whose name says that it is of the kind may be ordered several times."""
    dishes = {
        "dairy": "Cheese wheel",
        "gluten-free": "Cheese wheel",
        "meat": "Grilled Pork Tenderloin",
        "peanuts": "Spicy Thai Peanut Chicken",
        "vegan": "Tofu and Vegetable stone pot",
    }
    several = re.search(r"Order (\d) items that are (.*)", asked)
    wanted = [dishes[several[2]]] * int(several[1]) if several else asked.split(": ", 1)[1].split(", ")
    for dish in wanted:
        page.act("click", page.near("clickable", dish, name="+"))
    page.click("button", "Order!")


@player("stock-market")
def stock_market(page, asked):
    """The price changes ten times a second: one well below the limit is still below it when the button is pressed."""
    limit = float(re.search(r"\$([\d.]+)\.$", asked)[1])
    buy = page.one("button", "Buy")
    for _ in range(2000):
        price = re.search(r"Stock price: *\$([\d.]+)", page.text())
        if price and float(price[1]) < limit:
            page.act("click", buy, settle="none")
            return


@player("ascending-numbers")
def ascending_numbers(page, _):
    for number in range(1, 6):
        page.click(name=str(number))


@player("click-pie", "click-pie-nodelay")
def click_pie(page, asked):
    page.click(name="+")
    page.click("clickable", quoted(asked))
