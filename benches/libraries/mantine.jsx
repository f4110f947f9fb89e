import { createRoot } from "react-dom/client";
import { Accordion, ActionIcon, Button, Checkbox, Chip, MantineProvider, Menu, MultiSelect, NativeSelect, NumberInput, Pagination, PinInput, Radio, Rating, SegmentedControl, Select, Slider, Switch, Tabs, TextInput, UnstyledButton } from "@mantine/core";
import "@mantine/core/styles.css";
import { declare, effect } from "./effects.js";
declare("button", "icon", "checkbox", "chip", "radio", "switch", "select", "multiple", "native", "text", "number", "pin", "slider", "rating", "segmented", "tabs", "menu", "accordion", "pagination", "unstyled");
createRoot(document.getElementById("root")).render(
  <MantineProvider>
    <div style={{ padding: 20, width: 400, display: "grid", gap: 8 }}>
      <Button onClick={effect("button")}>Refresh</Button>
      <ActionIcon onClick={effect("icon")}>★</ActionIcon>
      <Checkbox label="Agree" onChange={effect("checkbox")} />
      <Chip onChange={effect("chip")}>Awesome</Chip>
      <Radio label="Plan" onChange={effect("radio")} />
      <Switch label="Wifi" onChange={effect("switch")} />
      <Select label="Size" data={["Small", "Large"]} onChange={effect("select")} />
      <MultiSelect label="Tags" data={["New", "Old"]} onChange={effect("multiple")} />
      <NativeSelect label="Native" data={["One", "Two"]} onChange={effect("native")} />
      <TextInput label="Name" onChange={effect("text")} />
      <NumberInput label="Count" onChange={effect("number")} />
      <PinInput length={2} onChange={effect("pin")} />
      <Slider defaultValue={20} onChange={effect("slider")} />
      <Rating onChange={effect("rating")} />
      <SegmentedControl data={["Day", "Week"]} onChange={effect("segmented")} />
      <Tabs defaultValue="a" onChange={effect("tabs")}><Tabs.List><Tabs.Tab value="a">A</Tabs.Tab><Tabs.Tab value="b">B</Tabs.Tab></Tabs.List></Tabs>
      <Menu><Menu.Target><Button>More</Button></Menu.Target><Menu.Dropdown><Menu.Item onClick={effect("menu")}>Copy</Menu.Item></Menu.Dropdown></Menu>
      <Accordion onChange={effect("accordion")}><Accordion.Item value="a"><Accordion.Control>Details</Accordion.Control><Accordion.Panel>Text</Accordion.Panel></Accordion.Item></Accordion>
      <Pagination total={4} onChange={effect("pagination")} />
      <UnstyledButton onClick={effect("unstyled")}>Plain</UnstyledButton>
    </div>
  </MantineProvider>,
);
