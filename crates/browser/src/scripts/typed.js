// Part of a function that is called on an element, with the text that was typed there.
if (!this.isConnected) return "gone";
const bare = (text) => text.replace(/[^\p{L}\p{N}]+/gu, "") || text.replace(/\s+/gu, "");
const content = this.editContext?.text ?? this.value ?? this.innerText ?? "";
return (bare(content).includes(bare(text)) ? "in" : "") + (isSecret(this) ? " secret" : "");
