// Part of a function that is called on an element, with the text that was typed there.
if (!this.isConnected) return "gone";
const bare = (text) => text.replace(/[^\p{L}\p{N}]+/gu, "") || text.replace(/\s+/gu, "");
const content = this.editContext?.text ?? this.value ?? this.innerText ?? "";
// What a date or a time has taken is not written as it was typed.
const isIn = this.localName === "input" && ["date", "time"].includes(this.type) ? content !== "" : bare(content).includes(bare(text));
return (isIn ? "in" : "") + (isSecret(this) ? " secret" : "");
