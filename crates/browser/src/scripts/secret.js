// Whether an element is for passwords, one-time codes or card numbers, according to its type or autocomplete attribute.
const isSecret = (element) => element.type === "password" || /one-time-code|password|cc-csc|cc-number/u.test(element.autocomplete ?? "");
