import { readFileSync } from "node:fs";

/** One selector a line, as a JSON string: some hold line ends, NUL, or half a surrogate pair. */
function readLines(name: string): string[] {
  const lines = readFileSync(new URL(name, import.meta.url), "utf8")
    .trim()
    .split("\n");
  return lines.map((line) => JSON.parse(line));
}

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

/** Attributes whose values HTML compares in any case, and others. */
const attributes = words(`
  accept accept-charset align alink axis bgcolor charset checked clear codetype color compact declare defer dir
  direction disabled enctype face frame hreflang http-equiv lang language link media method multiple nohref
  noresize noshade nowrap readonly rel rev rules scope scrolling selected shape target text type valign valuetype
  vlink title name content value data-x foo
`);

/** Odd selectors that browsers take. */
export const acceptedSelectors: readonly string[] = [
  ...readLines("selectors-accepted.txt"),
  ...attributes.map((name) => `[${name}=value]`),
  ...words(`
  :host :scope :-webkit-autofill :-webkit-full-screen :-webkit-drag :-webkit-any-link :user-valid :user-invalid
  :autofill :popover-open :open :modal :fullscreen :picture-in-picture :defined :any-link :target-current :root
  :empty :only-of-type :link :enabled :disabled :checked :default :indeterminate :required :optional
  :placeholder-shown :read-write :read-only :in-range :out-of-range :valid :invalid :target
  `),
];

/** Selectors for which `document.querySelectorAll` throws a `SyntaxError`, as for those of jQuery and other browsers. */
export const refusedSelectors: readonly string[] = [
  ...readLines("selectors-refused.txt"),
  ...words(`
  ::slotted ::-moz-selection :--foo :host-context :first :last :even :odd :input :button :text :file :header
  :image :parent :password :radio :reset :selected :submit :checkbox :visible :hidden :animated :blank :local-link
  :target-within :heading :has-slotted :left :right :-moz-focusring :-ms-input-placeholder ::-moz-placeholder
  ::-ms-clear ::content ::shadow ::cue-region ::foo
  `),
];

/** What Selectors 4 has and other browsers take, but not Chromium. */
export const beyondChromium: readonly string[] = [
  ...["[a=b s]", '[a="b"S]', ":lang('')", ":lang('*-CH')", ":lang(en, de)", ":lang('en', de)"],
  ...[":buffering", ":muted", ":paused", ":playing", ":seeking", ":stalled", ":volume-locked"],
];
