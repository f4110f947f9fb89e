import { createRoot } from "react-dom/client";
import { Accordion, AccordionDetails, AccordionSummary, Autocomplete, Button, Card, CardActionArea, Checkbox, Chip, IconButton, List, ListItemButton, MenuItem, Pagination, Radio, Rating, Select, Slider, Switch, Tab, Tabs, TextField, ToggleButton } from "@mui/material";
import { declare, effect } from "./effects.js";
declare("button", "icon", "checkbox", "switch", "radio", "select", "autocomplete", "textfield", "slider", "rating", "tab", "chip", "delete chip", "toggle", "list item", "card", "accordion", "page");
createRoot(document.getElementById("root")).render(
  <div style={{ padding: 20, width: 500 }}>
    <Button onClick={effect("button")}>Refresh</Button>
    <IconButton onClick={effect("icon")}><svg width="20" height="20"><circle cx="10" cy="10" r="8" /></svg></IconButton>
    <Checkbox onChange={effect("checkbox")} />
    <Switch onChange={effect("switch")} slotProps={{ input: { "aria-label": "Wifi" } }} />
    <Radio onChange={effect("radio")} value="a" slotProps={{ input: { "aria-label": "Plan A" } }} />
    <Select defaultValue={10} onChange={effect("select")}><MenuItem value={10}>Ten</MenuItem><MenuItem value={20}>Twenty</MenuItem></Select>
    <Autocomplete options={["Berlin", "Bern", "Paris"]} onChange={effect("autocomplete")} renderInput={(given) => <TextField {...given} label="City" />} />
    <TextField label="Name" onChange={effect("textfield")} />
    <Slider defaultValue={10} aria-label="Volume" onChange={effect("slider")} />
    <Rating onChange={effect("rating")} />
    <Tabs value={0} onChange={effect("tab")}><Tab label="One" /><Tab label="Two" /></Tabs>
    <Chip label="Filter" onClick={effect("chip")} /> <Chip label="Tag" onDelete={effect("delete chip")} />
    <ToggleButton value="bold" onChange={effect("toggle")}>B</ToggleButton>
    <List><ListItemButton onClick={effect("list item")}>Inbox</ListItemButton></List>
    <Card><CardActionArea onClick={effect("card")}>A card</CardActionArea></Card>
    <Accordion onChange={effect("accordion")}><AccordionSummary>More</AccordionSummary><AccordionDetails>Text</AccordionDetails></Accordion>
    <Pagination count={5} onChange={effect("page")} />
  </div>,
);
