import DefaultTheme from "vitepress/theme-without-fonts";
import { h } from "vue";
import "./style.css";

export default {
  extends: DefaultTheme,
  // The theme's own page has no main landmark.
  Layout: () => h(DefaultTheme.Layout, null, { "not-found": () => h("main", { class: "not-found" }, notFound()) }),
};

function notFound() {
  return [h("h1", "There is no such page"), h("p", ["See the ", h("a", { href: "/" }, "first page"), ", or search."])];
}
