import { svgNamespace } from "../document/html-names.ts";
import { isHtmlElement, nextNode, SourceElement, TextNode } from "../document/html-nodes.ts";
import { words } from "../words.ts";
import { asciiKeyword } from "./attribute-selector.ts";
import {
  has,
  isDisabled,
  isInput,
  isMutable,
  isNamed,
  isRequirable,
  selectOf,
  showsPlaceholder,
} from "./form-controls.ts";
import type { FormState, MatchContext } from "./match-context.ts";
import type { PlainPseudoClass } from "./selector-names.ts";
import { nextElement, parentElement, previousElement } from "./tree-steps.ts";

type PseudoClassTest = (element: SourceElement, context: MatchContext) => boolean;

const linkNames = words("a area img");
const customElementName = /^[a-z][^A-Z]*-/;
/** Names with a hyphen that SVG and MathML had first. */
const reservedNames = words(`annotation-xml color-profile font-face font-face-src font-face-uri font-face-format
  font-face-name missing-glyph`);

const isRoot: PseudoClassTest = ({ parent }, { root }) => parent === root;

type FormPseudoClass = "checked" | "default" | "indeterminate";
type FormPseudoClassTest = (element: SourceElement, forms: FormState) => boolean;

/** Pseudo-classes that go by the forms of the page. */
export const formPseudoClasses: Readonly<Record<FormPseudoClass, FormPseudoClassTest>> = {
  checked: isChecked,
  default(element, { defaultButtons }) {
    if (isNamed(element, "option")) return has(element, "selected");
    if (isInput(element, "checkbox", "radio")) return has(element, "checked");
    return defaultButtons.has(element);
  },
  indeterminate(element, { radios }) {
    if (isNamed(element, "progress")) return !has(element, "value");
    return isInput(element, "radio") && radios.get(element)?.checked === undefined;
  },
};

/** The others without an argument, as browsers answer them for a page that just has been loaded. */
export const pseudoClasses: Readonly<Record<Exclude<PlainPseudoClass, FormPseudoClass>, PseudoClassTest>> = {
  root: isRoot,
  // The scope of `document.querySelectorAll` is the document, for which its root element stands.
  scope: isRoot,
  empty: ({ children }, { steps }) => {
    steps.spend(children.length); // All of them may be comments.
    return !children.some((child) => child instanceof SourceElement || child instanceof TextNode);
  },
  "first-child": (element, { steps }) => previousElement(element, steps) === null,
  "last-child": (element, { steps }) => nextElement(element, steps) === null,
  "only-child": (element, { steps }) => !previousElement(element, steps) && !nextElement(element, steps),

  link: isLink,
  "any-link": isLink,
  "-webkit-any-link": isLink,
  defined: (element) =>
    !isHtmlElement(element) ||
    (!(customElementName.test(element.name) && !reservedNames.has(element.name)) && !has(element, "is")),
  open: (element) => isNamed(element, "details", "dialog") && has(element, "open"),

  enabled: (element, context) => isDisabled(element, context) === false,
  disabled: (element, context) => isDisabled(element, context) === true,
  required: (element) => isRequirable(element) && has(element, "required"),
  optional: (element) =>
    isNamed(element, "button", "input", "select", "textarea") && !(isRequirable(element) && has(element, "required")),
  "placeholder-shown": (element, context) =>
    isNamed(element, "textarea")
      ? has(element, "placeholder") && textOf(element, context) === ""
      : isNamed(element, "input") && showsPlaceholder(element, context),
  "read-write": isReadWrite,
  "read-only": (element, context) => isHtmlElement(element) && !isReadWrite(element, context),
};

function isLink(element: SourceElement): boolean {
  const { name, namespace } = element;
  // Chromium takes an image map's image for a link as well.
  if (isHtmlElement(element)) return has(element, name === "img" ? "usemap" : "href") && linkNames.has(name);
  return namespace === svgNamespace && name === "a" && (has(element, "href") || has(element, "xlink:href"));
}

function isChecked(element: SourceElement, { radios, selectedOptions }: FormState): boolean {
  if (isNamed(element, "option")) {
    const select = selectOf(element);
    return select && !has(select, "multiple") ? selectedOptions.has(element) : has(element, "selected");
  }
  if (isInput(element, "checkbox")) return has(element, "checked");
  return isInput(element, "radio") && radios.get(element)?.checked === element;
}

function textOf(element: SourceElement, { steps }: MatchContext): string {
  let text = "";
  for (let node = nextNode(element, element); node; node = nextNode(node, element)) {
    steps.spend();
    if (node instanceof TextNode) text += node.data;
  }
  return text;
}

/** Controls that can be filled in, and what is editable or stands in it. */
function isReadWrite(element: SourceElement, context: MatchContext): boolean {
  if (!isHtmlElement(element)) return false;
  if (isNamed(element, "input", "textarea")) return isMutable(element, context);
  for (let current: SourceElement | null = element; current; current = parentElement(current)) {
    context.steps.spend();
    const editable = isHtmlElement(current) ? editability(current) : undefined;
    if (editable === "false") return false;
    if (editable === "" || editable === "true" || editable === "plaintext-only") return true;
  }
  return false;
}

/** `undefined` where the attribute is missing. */
function editability({ attribs }: SourceElement): string | undefined {
  const { contenteditable } = attribs;
  // The empty text has a meaning, which one that is too long must not get.
  return contenteditable === undefined || contenteditable === ""
    ? contenteditable
    : asciiKeyword(contenteditable) || "inherit";
}
