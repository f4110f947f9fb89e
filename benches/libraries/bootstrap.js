import "bootstrap/dist/css/bootstrap.css";
import "bootstrap/dist/js/bootstrap.bundle.js";
import { declare, hit } from "./effects.js";
declare("button", "check", "switch", "radio toggle", "select", "range", "text", "dropdown", "collapse", "accordion", "tab", "page", "close", "list", "color", "offcanvas");
document.getElementById("root").innerHTML = `<div style="padding:20px;width:420px">
  <button class="btn btn-primary" data-hit="button">Refresh</button>
  <div class="form-check"><input class="form-check-input" type="checkbox" id="c" data-change="check"><label class="form-check-label" for="c">Agree</label></div>
  <div class="form-check form-switch"><input class="form-check-input" type="checkbox" role="switch" id="s" data-change="switch"><label for="s">Wifi</label></div>
  <div class="btn-group"><input type="radio" class="btn-check" name="o" id="o1"><label class="btn btn-outline-primary" for="o1">Day</label><input type="radio" class="btn-check" name="o" id="o2" data-change="radio toggle"><label class="btn btn-outline-primary" for="o2">Week</label></div>
  <select class="form-select" aria-label="Size" data-change="select"><option>Small</option><option>Large</option></select>
  <input type="range" class="form-range" aria-label="Volume" data-change="range">
  <input class="form-control" placeholder="Name" data-change="text">
  <div class="dropdown"><button class="btn dropdown-toggle" data-bs-toggle="dropdown">Menu</button><ul class="dropdown-menu"><li><a class="dropdown-item" href="#a" data-hit="dropdown">Action</a></li></ul></div>
  <a data-bs-toggle="collapse" href="#more" id="toggle">Toggle</a><div class="collapse" id="more">More</div>
  <div class="accordion" id="acc"><div class="accordion-item"><h2 class="accordion-header"><button class="accordion-button collapsed" data-bs-toggle="collapse" data-bs-target="#panel">Details</button></h2><div id="panel" class="accordion-collapse collapse" data-bs-parent="#acc">Text</div></div></div>
  <ul class="nav nav-tabs"><li class="nav-item"><button class="nav-link active" data-bs-toggle="tab" data-bs-target="#t1">One</button></li><li class="nav-item"><button class="nav-link" id="two" data-bs-toggle="tab" data-bs-target="#t2">Two</button></li></ul><div class="tab-content"><div class="tab-pane active" id="t1">1</div><div class="tab-pane" id="t2">2</div></div>
  <ul class="pagination"><li class="page-item"><a class="page-link" href="#p2" data-hit="page">2</a></li></ul>
  <button class="btn-close" aria-label="Close" data-hit="close"></button>
  <div class="list-group"><button class="list-group-item list-group-item-action" data-hit="list">Item</button></div>
  <input type="color" class="form-control form-control-color" title="Colour" data-change="color">
  <button class="btn" data-bs-toggle="offcanvas" data-bs-target="#off">Side</button><div class="offcanvas offcanvas-start" id="off" tabindex="-1" data-bs-backdrop="false"><button data-hit="offcanvas">Inside</button></div>
</div>`;
document.addEventListener("click", (event) => { const { hit: name } = event.target.closest("[data-hit]")?.dataset ?? {}; if (name) hit(name); });
for (const kind of ["change", "input"]) document.addEventListener(kind, (event) => { if (event.target.dataset.change) hit(event.target.dataset.change); });
document.getElementById("more").addEventListener("shown.bs.collapse", () => hit("collapse"));
document.getElementById("panel").addEventListener("shown.bs.collapse", () => hit("accordion"));
document.getElementById("two").addEventListener("shown.bs.tab", () => hit("tab"));
