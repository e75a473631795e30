import { foreignAttributeName } from "../document/html-names.ts";
import { isHtmlElement, type SourceElement } from "../document/html-nodes.ts";
import type { DocumentKind } from "../document/source-document.ts";
import { asciiLowerCase } from "../tokenizer/text.ts";
import { words } from "../words.ts";
import type { AttributeOperator, AttributeSelector } from "./selector-tree.ts";
import type { EvaluationSteps } from "./tree-steps.ts";

/** Attributes of HTML whose values selectors compare in any case (HTML Standard, 4.16.2). */
const caseInsensitiveValues =
  words(`accept accept-charset align alink axis bgcolor charset checked clear codetype color compact declare defer dir
  direction disabled enctype face frame hreflang http-equiv lang language link media method multiple nohref noresize noshade
  nowrap readonly rel rev rules scope scrolling selected shape target text type valign valuetype vlink`);

const whiteSpace = " \t\r\n\f";

/** Longer than any value of an attribute that is one of a few words. */
const maxKeyword = 32;

/** Attributes that the HTML parser puts into a namespace, in SVG and MathML (HTML Standard, 13.2.6.1). */
const foreignAttributes = words(`xlink:actuate xlink:arcrole xlink:href xlink:role xlink:show xlink:title xlink:type
  xml:lang xml:space xmlns xmlns:xlink`);

const comparisons: Readonly<Record<AttributeOperator, (value: string, wanted: string) => boolean>> = {
  exists: () => true,
  "=": (value, wanted) => value === wanted,
  "~=": hasWord,
  "|=": (value, wanted) => value === wanted || value.startsWith(`${wanted}-`),
  "^=": (value, wanted) => wanted !== "" && value.startsWith(wanted),
  "$=": (value, wanted) => wanted !== "" && value.endsWith(wanted),
  "*=": (value, wanted) => wanted !== "" && value.includes(wanted),
};

/** What an attribute has to be known of its document. */
export interface AttributeContext {
  /** Whether attributes and their values go by the rules of HTML or of XML. */
  readonly kind: DocumentKind;
  readonly steps: EvaluationSteps;
}

export function attributeTest(
  selector: AttributeSelector,
  context: AttributeContext,
): (element: SourceElement) => boolean {
  const { name, namespace, operator, value, flag } = selector;
  const hasHtmlRule = context.kind === "html" && caseInsensitiveValues.has(asciiLowerCase(name));
  const lowerValue = asciiLowerCase(value);
  const compare = comparisons[operator];
  const key = context.kind === "html" ? asciiLowerCase(name) : name;
  return (element) => {
    const ignoreCase = flag === null ? hasHtmlRule && isHtmlElement(element) : flag === "i";
    const isMatch = (found: string): boolean => {
      context.steps.spend(stepsToCompare(found, selector, ignoreCase));
      return ignoreCase ? compare(asciiLowerCase(found), lowerValue) : compare(found, value);
    };
    const own = attributeValue(element, key, context);
    if (own !== undefined && isMatch(own)) return true;
    return namespace === "any" && namespacedValues(element, name, context).some(isMatch);
  };
}

/** Steps beside those of finding a value. The search for a long text in another looks at characters many times. */
function stepsToCompare(found: string, { operator, value }: AttributeSelector, ignoreCase: boolean): number {
  const passes = (ignoreCase ? 1 : 0) + (operator === "~=" ? 1 : 0) + (operator === "*=" ? 1 + (value.length >> 6) : 0);
  return passes * stepsToRead(found);
}

/** The steps of looking at each character of a text by itself, rather than at a word of memory. */
export function stepsToRead({ length }: string): number {
  return length >> 2;
}

/** The value of an attribute without a namespace. In HTML, `key` is its name in lower case, `viewBox` not excepted. */
export function attributeValue(
  element: SourceElement,
  key: string,
  { kind, steps }: AttributeContext,
): string | undefined {
  const value = kind === "html" ? htmlAttribute(element, key) : xmlAttribute(element, key);
  if (value) steps.spend(value.length >> 6);
  return value;
}

/** Whether a list of words, as `class` is one, holds a word. */
export function hasWord(value: string, word: string): boolean {
  if (word === "" || /[ \t\r\n\f]/.test(word)) return false;
  let start = value.indexOf(word);
  while (start !== -1) {
    const end = start + word.length;
    if (isBoundary(value, start - 1) && isBoundary(value, end)) return true;
    start = value.indexOf(word, end);
  }
  return false;
}

/** A keyword of HTML in lower case; `""` for a text that is longer than all of them. */
export function asciiKeyword(text: string = ""): string {
  return text.length > maxKeyword ? "" : asciiLowerCase(text);
}

function htmlAttribute(element: SourceElement, lowerName: string): string | undefined {
  const { attribs } = element;
  if (isHtmlElement(element)) return attribs[lowerName];
  if (foreignAttributes.has(lowerName)) return undefined;
  return attribs[lowerName] ?? attribs[foreignAttributeName(lowerName)];
}

function xmlAttribute({ attribs }: SourceElement, name: string): string | undefined {
  return name === "xmlns" || name.includes(":") ? undefined : attribs[name];
}

function namespacedValues(element: SourceElement, name: string, { kind, steps }: AttributeContext): string[] {
  if (kind === "html" && isHtmlElement(element)) return [];
  const keys = kind === "html" ? foreignAttributes : Object.keys(element.attribs);
  const values: string[] = [];
  for (const key of keys) {
    steps.spend();
    const value =
      key.slice(key.indexOf(":") + 1) === name && (key === "xmlns" || key.includes(":")) && element.attribs[key];
    if (value || value === "") values.push(value);
  }
  return values;
}

function isBoundary(value: string, index: number): boolean {
  return index < 0 || index >= value.length || whiteSpace.includes(value.charAt(index));
}
