import { createRoot } from "react-dom/client";
import { Accordion, Checkbox, Collapsible, DropdownMenu, Label, Popover, RadioGroup, Select, Slider, Switch, Tabs, Toggle, ToggleGroup } from "radix-ui";
import { declare, effect } from "./effects.js";
declare("checkbox", "switch", "radio", "select", "menu", "checked menu", "popover", "tabs", "accordion", "collapsible", "toggle", "toggle group", "slider");
createRoot(document.getElementById("root")).render(
  <div style={{ padding: 20, width: 400, display: "grid", gap: 10 }}>
    <div><Checkbox.Root id="terms" onCheckedChange={effect("checkbox")} style={{ width: 20, height: 20 }}><Checkbox.Indicator>✓</Checkbox.Indicator></Checkbox.Root><Label.Root htmlFor="terms">Terms</Label.Root></div>
    <Switch.Root onCheckedChange={effect("switch")} style={{ width: 40, height: 20 }} aria-label="Airplane mode"><Switch.Thumb /></Switch.Root>
    <RadioGroup.Root onValueChange={effect("radio")}>{["compact", "wide"].map((value) => <RadioGroup.Item key={value} value={value} style={{ width: 20, height: 20 }} aria-label={value}><RadioGroup.Indicator>o</RadioGroup.Indicator></RadioGroup.Item>)}</RadioGroup.Root>
    <Select.Root defaultValue="apple" onValueChange={effect("select")}><Select.Trigger aria-label="Fruit"><Select.Value /></Select.Trigger><Select.Portal><Select.Content>{["apple", "pear"].map((fruit) => <Select.Item key={fruit} value={fruit}><Select.ItemText>{fruit}</Select.ItemText></Select.Item>)}</Select.Content></Select.Portal></Select.Root>
    <DropdownMenu.Root><DropdownMenu.Trigger>Menu</DropdownMenu.Trigger><DropdownMenu.Portal><DropdownMenu.Content><DropdownMenu.Item onSelect={effect("menu")}>New tab</DropdownMenu.Item></DropdownMenu.Content></DropdownMenu.Portal></DropdownMenu.Root>
    <DropdownMenu.Root><DropdownMenu.Trigger>View</DropdownMenu.Trigger><DropdownMenu.Portal><DropdownMenu.Content><DropdownMenu.CheckboxItem onCheckedChange={effect("checked menu")}>Toolbar</DropdownMenu.CheckboxItem></DropdownMenu.Content></DropdownMenu.Portal></DropdownMenu.Root>
    <Popover.Root><Popover.Trigger>Filter</Popover.Trigger><Popover.Portal><Popover.Content><button onClick={effect("popover")}>Apply</button></Popover.Content></Popover.Portal></Popover.Root>
    <Tabs.Root defaultValue="one" onValueChange={effect("tabs")}><Tabs.List><Tabs.Trigger value="one">One</Tabs.Trigger><Tabs.Trigger value="two">Two</Tabs.Trigger></Tabs.List></Tabs.Root>
    <Accordion.Root type="single" collapsible onValueChange={effect("accordion")}><Accordion.Item value="a"><Accordion.Header><Accordion.Trigger>Is it?</Accordion.Trigger></Accordion.Header><Accordion.Content>Yes</Accordion.Content></Accordion.Item></Accordion.Root>
    <Collapsible.Root onOpenChange={effect("collapsible")}><Collapsible.Trigger>Show</Collapsible.Trigger><Collapsible.Content>More</Collapsible.Content></Collapsible.Root>
    <Toggle.Root onPressedChange={effect("toggle")} aria-label="Italic">I</Toggle.Root>
    <ToggleGroup.Root type="single" onValueChange={effect("toggle group")}><ToggleGroup.Item value="left">Left</ToggleGroup.Item></ToggleGroup.Root>
    <Slider.Root defaultValue={[20]} onValueChange={effect("slider")} style={{ position: "relative", display: "flex", width: 200, height: 20, alignItems: "center" }}><Slider.Track style={{ background: "#ccc", flexGrow: 1, height: 4 }}><Slider.Range /></Slider.Track><Slider.Thumb aria-label="Volume" style={{ display: "block", width: 20, height: 20, background: "#333" }} /></Slider.Root>
  </div>,
);
