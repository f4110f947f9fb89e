// Called on a list: selects an option by its label, or else by its value, or ends its selection. Returns why it could not.
function (text, isSelected) {
  if (this.localName !== "select") {
    const role = roleOf(this) || this.localName;
    return `a ${role} of the page's own has no options to select: use action=${role !== "combobox" && WRITTEN.includes(role) ? "type" : "click"}`;
  }
  if (this.matches(":disabled")) return "disabled";
  const plain = (text) => text.replace(/\s+/gu, " ").trim();
  const options = [...this.options].filter((option) => !option.disabled);
  const found = options.find((option) => plain(option.label) === plain(text)) ?? options.find((option) => option.value === text);
  if (!found) return "there is no such option, but " + options.map((option) => JSON.stringify(plain(option.label))).slice(0, 30).join(", ");
  if (!isSelected && !this.multiple) return "one of its options is always selected: select another one";
  if (!takesFocus(this)) return "unfocused";
  if (this.multiple) found.selected = isSelected; else this.value = found.value;
  if (!this.multiple) this.selectedIndex = found.index;
  this.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  this.dispatchEvent(new Event("change", { bubbles: true }));
  return "";
}
