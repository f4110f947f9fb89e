// Whether an element is for passwords, one-time codes or card numbers, as its type or its autocomplete says.
const isSecret = (element) => element.type === "password" || /one-time-code|password|cc-csc|cc-number/u.test(element.autocomplete ?? "");
