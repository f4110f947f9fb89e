// Part of a function that is called on an element, with the text that was typed there.
const plain = (text) => text.replace(/\s+/gu, "");
return (plain(this.value ?? this.innerText ?? "").includes(plain(text)) ? "in" : "") + (isSecret(this) ? " secret" : "");
