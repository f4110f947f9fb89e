// Called on an element: prepares it for typing. Selects its content, or puts the cursor at its end. Inputs whose value is not
// typed (dates, colours, ranges) are set at once ("done"). Returns the keys that the rest needs, or why it takes no text.
function (text, isAppended) {
  const type = this.localName === "input" ? this.type : this.localName;
  if (this.matches(":disabled")) return "disabled";
  if (this.readOnly) return "it is read-only: use action=click to open what sets it";
  if (["checkbox", "radio", "file", "button", "submit", "reset", "image", "select"].includes(type)) return `a ${type} takes no text: use action=${type === "select" ? "select" : "click"}`;
  if (["date", "time", "datetime-local", "month", "week", "color", "range"].includes(type)) {
    const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
    if (!takesFocus(this)) return "unfocused";
    // A person writes a date in the order of the browser's language, and the hours of a day by halves.
    const asValue = () => {
      if (type === "time") {
        const [, hour, minute, half] = /^(\d{1,2}):(\d\d) ?([ap])\.?m\.?$/iu.exec(text.trim()) ?? [];
        return half && hour >= 1 && hour <= 12 ? `${String((hour % 12) + (/p/iu.test(half) ? 12 : 0)).padStart(2, "0")}:${minute}` : text;
      }
      const numbers = /^(\d+)\D(\d+)\D(\d+)$/u.exec(text.trim())?.slice(1);
      if (type !== "date" || !numbers) return text;
      const order = new Intl.DateTimeFormat(navigator.language).formatToParts().map((part) => part.type).filter((part) => part !== "literal");
      const [year, month, day] = ["year", "month", "day"].map((part) => numbers[order.indexOf(part)]);
      return year?.length === 4 ? `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}` : text;
    };
    const value = asValue();
    set.call(this, value);
    if (this.value !== value && Number(this.value) !== Number(text)) {
      const form = { date: "YYYY-MM-DD", time: "HH:MM", "datetime-local": "YYYY-MM-DDTHH:MM", month: "YYYY-MM", week: "YYYY-Www", color: "#rrggbb" }[type];
      return `a ${type} takes no ${JSON.stringify(text)}${form ? `: write it as ${form}` : ""}`;
    }
    this.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    this.dispatchEvent(new Event("change", { bubbles: true }));
    return "done";
  }
  if (this.editContext) {
    this.focus();
    return hasFocus(this) ? (isAppended ? "Control+End" : "Control+a") : "unfocused";
  }
  if (type !== "input" && type !== "textarea" && this.localName !== "input" && !this.isContentEditable) return `a ${roleOf(this) || type} takes no text`;
  this.focus();
  if (this.isContentEditable) {
    const range = document.createRange();
    range.selectNodeContents(this);
    if (isAppended) range.collapse(false);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  } else if (isAppended) {
    // Some types have no selection that scripts can set.
    if (this.selectionStart === null) return "End";
    this.setSelectionRange(this.value.length, this.value.length);
  } else this.select();
  return hasFocus(this) ? "" : "unfocused";
}
