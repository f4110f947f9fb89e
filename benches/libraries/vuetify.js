import { createApp } from "vue";
import { createVuetify } from "vuetify";
import * as components from "vuetify/components";
import "vuetify/styles";
import { declare, effect } from "./effects.js";
declare("button", "checkbox", "radio", "switch", "select", "autocomplete", "combobox", "text", "slider", "rating", "chip", "tabs", "list item", "expansion", "pagination", "menu");
createApp({
  data: () => ({ tab: "a" }),
  methods: { hit: (name) => effect(name)() },
  template: `<v-app><div style="padding:20px;width:420px">
    <v-btn @click="hit('button')">Refresh</v-btn>
    <v-checkbox label="Agree" @update:model-value="hit('checkbox')" />
    <v-radio-group @update:model-value="hit('radio')"><v-radio label="One" value="1" /></v-radio-group>
    <v-switch label="Wifi" @update:model-value="hit('switch')" />
    <v-select label="Size" :items="['Small','Large']" @update:model-value="hit('select')" />
    <v-autocomplete label="City" :items="['Rome','Oslo']" @update:model-value="hit('autocomplete')" />
    <v-combobox label="Tag" :items="['New','Old']" @update:model-value="hit('combobox')" />
    <v-text-field label="Name" @update:model-value="hit('text')" />
    <v-slider :model-value="20" @update:model-value="hit('slider')" />
    <v-rating @update:model-value="hit('rating')" />
    <v-chip @click="hit('chip')">Filter</v-chip>
    <v-tabs @update:model-value="hit('tabs')"><v-tab value="a">A</v-tab><v-tab value="b">B</v-tab></v-tabs>
    <v-list><v-list-item title="Inbox" @click="hit('list item')" /></v-list>
    <v-expansion-panels @update:model-value="hit('expansion')"><v-expansion-panel title="More" text="Text" /></v-expansion-panels>
    <v-pagination :length="4" @update:model-value="hit('pagination')" />
    <v-menu><template #activator="{ props }"><v-btn v-bind="props">Menu</v-btn></template><v-list><v-list-item title="Copy" @click="hit('menu')" /></v-list></v-menu>
  </div></v-app>`,
}).use(createVuetify({ components })).mount("#root");
