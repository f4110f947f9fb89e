// Whether an element is a field in which Enter may press the button of its form, and that button.
const isTyped = (element) => {
  if (localNameOf.call(element) !== "input") return false;
  return !["button", "checkbox", "color", "file", "hidden", "image", "radio", "range", "reset", "submit"].includes(element.type);
};
const submitterOf = (form) => {
  const isSubmitter = (one) => (one.localName === "button" && one.type === "submit") || (one.localName === "input" && one.type === "submit");
  for (const one of form ? member(form, "elements") : []) if (isSubmitter(one)) return one;
  return null;
};
