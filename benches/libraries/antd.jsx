import { createRoot } from "react-dom/client";
import { AutoComplete, Button, Cascader, Checkbox, Collapse, ColorPicker, DatePicker, Dropdown, Input, InputNumber, Menu, Pagination, Radio, Rate, Segmented, Select, Slider, Switch, Tabs, Tag, Transfer, Tree, TreeSelect } from "antd";
import { declare, effect } from "./effects.js";
declare("button", "checkbox", "radio", "switch", "select", "multiple", "tree select", "cascader", "autocomplete", "date", "input", "password", "number", "slider", "rate", "tabs", "segmented", "dropdown", "menu", "pagination", "collapse", "tree", "close tag");
const options = ["Small", "Large"].map((label) => ({ value: label, label }));
createRoot(document.getElementById("root")).render(
  <div style={{ padding: 20, width: 560, display: "grid", gap: 8 }}>
    <Button onClick={effect("button")}>Refresh</Button>
    <Checkbox onChange={effect("checkbox")}>Agree</Checkbox>
    <Radio.Group options={options} onChange={effect("radio")} />
    <Switch onChange={effect("switch")} />
    <Select options={options} defaultValue="Small" onChange={effect("select")} style={{ width: 200 }} />
    <Select mode="multiple" options={[{ value: "x", label: "Xenon" }, { value: "y", label: "Yttrium" }]} placeholder="Elements" onChange={effect("multiple")} style={{ width: 200 }} />
    <TreeSelect treeData={[{ value: "root", title: "Root" }]} placeholder="Node" onChange={effect("tree select")} style={{ width: 200 }} />
    <Cascader options={[{ value: "z", label: "Zoo" }]} placeholder="Place" onChange={effect("cascader")} />
    <AutoComplete options={options} placeholder="Word" onChange={effect("autocomplete")} style={{ width: 200 }} />
    <DatePicker onChange={effect("date")} />
    <Input placeholder="Name" onChange={effect("input")} />
    <Input.Password placeholder="Secret" onChange={effect("password")} />
    <InputNumber defaultValue={3} onChange={effect("number")} />
    <Slider defaultValue={30} onChange={effect("slider")} />
    <Rate onChange={effect("rate")} />
    <Tabs items={[{ key: "1", label: "First", children: "1" }, { key: "2", label: "Second", children: "2" }]} onChange={effect("tabs")} />
    <Segmented options={["Daily", "Weekly"]} onChange={effect("segmented")} />
    <Dropdown trigger={["click"]} menu={{ items: [{ key: "a", label: "Archive" }], onClick: effect("dropdown") }}><a>Actions</a></Dropdown>
    <Menu mode="horizontal" items={[{ key: "home", label: "Home" }]} onClick={effect("menu")} />
    <Pagination total={50} onChange={effect("pagination")} />
    <Collapse items={[{ key: "1", label: "Details", children: "Text" }]} onChange={effect("collapse")} />
    <Tree treeData={[{ key: "leaf", title: "Leaf" }]} onSelect={effect("tree")} />
    <Tag closable onClose={effect("close tag")}>Tag</Tag>
  </div>,
);
