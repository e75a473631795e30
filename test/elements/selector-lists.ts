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

/** Spellings of An+B, in a selector each. */
function nthChildren(text: string): string[] {
  return words(text).map((positions) => `:nth-child(${positions})`);
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
  ...nthChildren(`
  +n -n+3 n n-3 +2n EVEN OdD 00002 99999999999 99999999999n n+99999999999 -0 +5 0 -1 n/**/+/**/3 2n/**/+3 +/**/n
  n/**/-3 /**/n/**/ 0n 0n+0 -n N 2N+1 -N-1 +N 2n-1 2n+1 -2n+1 1n+0001 +1n 2n+0 n/**/of/**/a n-/**/1 n-1/**/
  n+/**/1 n/**/+1 n-01 n-0 +0 1n 10000000000000000000000 3n-1 -2n+5 n+10 0n+1 1n+0
  `),
  ...attributes.map((name) => `[${name}=value]`),
  ...words(`
  :host :scope :-webkit-autofill :-webkit-full-screen :-webkit-drag :-webkit-any-link :user-valid :user-invalid
  :autofill :popover-open :open :modal :fullscreen :picture-in-picture :defined :any-link :target-current :root
  :empty :only-of-type :link :enabled :disabled :checked :default :indeterminate :required :optional
  :placeholder-shown :read-write :read-only :in-range :out-of-range :valid :invalid :target
  `),
];

/** Selectors for which `document.querySelectorAll` throws a `SyntaxError`, such as those of jQuery. */
export const refusedSelectors: readonly string[] = [
  ...readLines("selectors-refused.txt"),
  ...nthChildren(`
  n3 2n+ 2n- +even -odd 1.0 1.5 1e3 1e0n n--3 2n+-3 --n 2/**/n -/**/n n/**/3 n- -n- 2n-1-1 2n1 1,2 x 1px 2n+1.0
  n+1e0 2n+b foo-3 n-3x n-3-4 .5 +.5 1% #n -/**/2n +/**/2n +/**/1 +-1 1n+1n +odd odd+1 even-1 n-1n
  `),
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
