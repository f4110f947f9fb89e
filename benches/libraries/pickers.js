import flatpickr from "flatpickr";
import "flatpickr/dist/flatpickr.css";
import Quill from "quill";
import "quill/dist/quill.snow.css";
import { basicSetup, EditorView } from "codemirror";
import "htmx.org";
import "@material/web/button/filled-button.js";
import "@material/web/checkbox/checkbox.js";
import "@material/web/select/outlined-select.js";
import "@material/web/select/select-option.js";
import "@material/web/switch/switch.js";
import "@material/web/textfield/outlined-text-field.js";
import { declare, effect, hit } from "./effects.js";
declare("day", "quill", "quill bold", "codemirror", "md button", "md checkbox", "md switch", "md text", "md select", "own element");
class Stepper extends HTMLElement {
  constructor() {
    super();
    const root = this.attachShadow({ mode: "closed" });
    root.innerHTML = "<button>+</button>";
    root.firstChild.addEventListener("click", effect("own element"));
  }
}
customElements.define("own-stepper", Stepper);
document.getElementById("root").innerHTML = `<div style="padding:20px;width:420px;display:grid;gap:10px">
  <input id="day" aria-label="Day"><div id="quill"></div><div id="code"></div>
  <md-filled-button>Go</md-filled-button><md-checkbox aria-label="Agree"></md-checkbox><md-switch aria-label="Wifi"></md-switch>
  <md-outlined-text-field label="Name"></md-outlined-text-field>
  <md-outlined-select label="Size"><md-select-option value="s"><div slot="headline">Small</div></md-select-option><md-select-option value="l"><div slot="headline">Large</div></md-select-option></md-outlined-select>
  <own-stepper></own-stepper></div>`;
flatpickr("#day", { onChange: effect("day") });
const quill = new Quill("#quill", { theme: "snow" });
quill.on("text-change", effect("quill"));
document.querySelector(".ql-bold").addEventListener("click", effect("quill bold"));
new EditorView({ doc: "let a", extensions: [basicSetup, EditorView.updateListener.of((update) => update.docChanged && hit("codemirror"))], parent: document.getElementById("code") });
for (const [selector, kind, name] of [["md-filled-button", "click", "md button"], ["md-checkbox", "change", "md checkbox"], ["md-switch", "change", "md switch"], ["md-outlined-text-field", "input", "md text"], ["md-outlined-select", "change", "md select"]]) {
  document.querySelector(selector).addEventListener(kind, effect(name));
}
