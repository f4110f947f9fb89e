import $ from "jquery";
import { declare, effect } from "./effects.js";
window.jQuery = window.$ = $;
declare("button", "checkbox button", "accordion", "autocomplete", "datepicker", "menu", "selectmenu", "slider", "spinner", "tabs", "delegated row", "delegated link", "dialog");
await import("jquery-ui-dist/jquery-ui.js");
await import("jquery-ui-dist/jquery-ui.css");
$("#root").html(`<div style="padding:20px;width:420px">
  <button id="b">Refresh</button> <label for="c">Bold</label><input type="checkbox" id="c">
  <div id="acc"><h3>One</h3><div>1</div><h3>Two</h3><div>2</div></div>
  <input id="auto" aria-label="Language"> <input id="date" aria-label="Day">
  <ul id="menu" style="width:150px"><li><div>Open</div></li></ul>
  <select id="sel"><option>Slow</option><option>Fast</option></select>
  <div id="slider" style="margin:10px"></div> <input id="spin" value="3">
  <div id="tabs"><ul><li><a href="#x">X</a></li><li><a href="#y">Y</a></li></ul><div id="x">x</div><div id="y">y</div></div>
  <table id="rows"><tr style="cursor:pointer"><td>Invoice 7</td></tr></table> <div id="links"><span class="link" style="cursor:pointer">Load more</span></div>
  <button id="open">Dialog</button><div id="dialog" title="Ask"><p>Sure?</p></div></div>`);
$("#b").button().on("click", effect("button"));
$("#c").checkboxradio().on("change", effect("checkbox button"));
$("#acc").accordion({ activate: effect("accordion") });
$("#auto").autocomplete({ source: ["ActionScript", "C", "12-tone"], minLength: 1, select: effect("autocomplete") });
$("#date").datepicker({ onSelect: effect("datepicker") });
$("#menu").menu({ select: effect("menu") });
$("#sel").selectmenu({ change: effect("selectmenu") });
$("#slider").slider({ slide: effect("slider"), change: effect("slider") });
$("#spin").spinner({ spin: effect("spinner"), change: effect("spinner") });
$("#tabs").tabs({ activate: effect("tabs") });
$("#rows").on("click", "tr", effect("delegated row"));
$("#links").on("click", ".link", effect("delegated link"));
$("#dialog").dialog({ autoOpen: false, buttons: { Agree: effect("dialog") } });
$("#open").on("click", () => $("#dialog").dialog("open"));
