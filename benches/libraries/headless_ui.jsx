import { createRoot } from "react-dom/client";
import { useState } from "react";
import { Checkbox, Combobox, ComboboxButton, ComboboxInput, ComboboxOption, ComboboxOptions, Disclosure, DisclosureButton, DisclosurePanel, Listbox, ListboxButton, ListboxOption, ListboxOptions, Menu, MenuButton, MenuItem, MenuItems, Popover, PopoverButton, PopoverPanel, Radio, RadioGroup, Switch, Tab, TabGroup, TabList } from "@headlessui/react";
import { declare, effect, hit } from "./effects.js";
declare("checkbox", "switch", "radio", "listbox", "combobox", "menu", "disclosure", "popover", "tabs");
const box = { display: "inline-block", width: 20, height: 20, border: "1px solid" };
function Page() {
  const [fruit, setFruit] = useState("Apple");
  return (
    <div style={{ padding: 20, width: 400, display: "grid", gap: 10 }}>
      <Checkbox checked={false} onChange={effect("checkbox")} style={box} />
      <Switch checked={false} onChange={effect("switch")} style={box} />
      <RadioGroup value="a" onChange={effect("radio")}><Radio value="a">Plan A</Radio> <Radio value="b">Plan B</Radio></RadioGroup>
      <Listbox value={fruit} onChange={(value) => { setFruit(value); hit("listbox"); }}><ListboxButton>{fruit}</ListboxButton><ListboxOptions>{["Apple", "Pear"].map((one) => <ListboxOption key={one} value={one}>{one}</ListboxOption>)}</ListboxOptions></Listbox>
      <Combobox onChange={effect("combobox")}><ComboboxInput aria-label="City" /><ComboboxButton>v</ComboboxButton><ComboboxOptions>{["Rome", "Oslo"].map((one) => <ComboboxOption key={one} value={one}>{one}</ComboboxOption>)}</ComboboxOptions></Combobox>
      <Menu><MenuButton>Options</MenuButton><MenuItems><MenuItem><button onClick={effect("menu")}>Duplicate</button></MenuItem></MenuItems></Menu>
      <Disclosure><DisclosureButton onClick={effect("disclosure")}>Why?</DisclosureButton><DisclosurePanel>Because</DisclosurePanel></Disclosure>
      <Popover><PopoverButton>Solutions</PopoverButton><PopoverPanel><a href="#x" onClick={effect("popover")}>Insights</a></PopoverPanel></Popover>
      <TabGroup onChange={effect("tabs")}><TabList><Tab>One</Tab><Tab>Two</Tab></TabList></TabGroup>
    </div>
  );
}
createRoot(document.getElementById("root")).render(<Page />);
