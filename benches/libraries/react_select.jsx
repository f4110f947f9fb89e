import { createRoot } from "react-dom/client";
import Select from "react-select";
import Creatable from "react-select/creatable";
import { declare, effect } from "./effects.js";
declare("single", "not searchable", "several", "clear", "creatable");
const options = ["Red", "Green", "Blue"].map((label) => ({ value: label, label }));
createRoot(document.getElementById("root")).render(
  <div style={{ padding: 20, width: 300, display: "grid", gap: 60 }}>
    <label>Colour <Select options={options} onChange={effect("single")} /></label>
    <Select options={options} isSearchable={false} onChange={effect("not searchable")} placeholder="Shade" />
    <Select options={options} isMulti onChange={effect("several")} placeholder="Colours" />
    <Select options={options} isClearable defaultValue={options[0]} aria-label="Clearable" onChange={(_, { action }) => action === "clear" && effect("clear")()} />
    <Creatable options={options} onChange={effect("creatable")} placeholder="New" />
  </div>,
);
