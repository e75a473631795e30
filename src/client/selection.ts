import type { Edit, InsertPosition } from "../html/edit/edits.ts";
import { dom } from "./dom.ts";
import { localMark } from "./selector-of.ts";
import { editPage, PageError, type Requesting, refusal, send } from "./send.ts";

/** Elements as they are stored. */
export interface StoredElements {
  /** Their outer HTML, in document order, byte for byte as in the file. */
  readonly html: string;
  /** The elements of {@link html}, parsed; they are in no document yet. */
  readonly elements: readonly Element[];
  /** How many elements the selector selects. */
  readonly matches: number;
}

/** Options of {@link Selection.append}. */
export interface AppendOptions {
  /** Beginning of ids for elements without one: `"item"` makes `item-2916017374`. @default none */
  readonly id?: string;
}

/**
 * Elements of a page, and what was last seen of them. Once it has read or written them, it writes only if they are
 * still the same (412 `PRECONDITION_FAILED` otherwise); a new one for the same selector writes whatever is there. What
 * is asked of one selection is done one after the other. All methods reject with a {@link PageError}.
 */
export interface Selection {
  readonly selector: string;
  /** Reads the elements; without a match the list is empty, which is not an error. */
  get(): Promise<StoredElements>;
  /** Puts something else in place of each element. Gives what stands there now. */
  replace(content: string | Element): Promise<StoredElements>;
  /** Adds to the end of each element. Gives the elements as they are now; under `draft-00`, what was added. */
  append(content: string | Element, options?: AppendOptions): Promise<StoredElements>;
  /**
   * Changes one element: reads it, calls `change` with it, and stores the element that this returns, otherwise the
   * given one; again with what is there then, 10 times at most, where another client was faster. Fails with `NO_MATCH`
   * and `SEVERAL_MATCHES`.
   */
  update(change: (element: Element) => unknown): Promise<StoredElements>;
  /** Removes the elements. Gives how many there were; 0 is an error only with `mustExist`. */
  remove(options?: RemoveOptions): Promise<number>;
  /**
   * Puts something before, behind, or first or last in each element. This and what follows gives how many elements it
   * was about, `undefined` where one may not read them, and fails with `NO_MATCH` if that is 0. The selection then has
   * to read again to know what is there.
   */
  insert(position: InsertPosition, content: string | Element): Promise<number | undefined>;
  /** Puts the elements, as they are, to the one element that `to` selects. */
  move(to: string, position: InsertPosition): Promise<number | undefined>;
  /** Replaces what is inside by HTML. */
  setContent(html: string): Promise<number | undefined>;
  /** Replaces what is inside by text. */
  setText(text: string): Promise<number | undefined>;
  setAttribute(name: string, value: string): Promise<number | undefined>;
  removeAttribute(name: string): Promise<number | undefined>;
  /** One class, or several with blanks between them. */
  addClass(classes: string): Promise<number | undefined>;
  removeClass(classes: string): Promise<number | undefined>;
}

/** Options of {@link Selection.remove}. */
export interface RemoveOptions {
  /** Whether it fails with `NO_MATCH` if there is nothing to remove. @default false */
  readonly mustExist?: boolean;
}

const maxAttempts = 10;

type Unselected<Any> = Any extends unknown ? Omit<Any, "selector" | "etag" | "matches"> : never;

const nothing: StoredElements = { html: "", elements: [], matches: 0 };

export function select(page: Requesting, selector: string): Selection {
  let tag: string | undefined;
  let last: Promise<unknown> = Promise.resolve();

  async function ask(method: string, content?: string | Element): Promise<StoredElements> {
    const body = content === undefined ? null : htmlOf(content);
    const headers = {
      // Header fields hold ASCII; the server decodes what does not parse as it stands.
      range: `selector=${/[^ -~]/.test(selector) ? encodeURIComponent(selector) : selector}`,
      "x-range-unit": "selector", // should a proxy remove the range, this is refused and not done to the whole page
      ...(body !== null && { "content-type": "text/html" }),
      ...(method !== "GET" && tag && { "if-match": tag }),
    };
    return send(page, method, { headers, body }, async (response) => {
      if (!response.ok) {
        const error = await refusal(response);
        // Under `draft-00` that is an error.
        if (body === null && error.code === "NO_MATCH") return { result: nothing, isWritten: false };
        throw error;
      }
      const { status } = response;
      if (status < 204) throw new PageError(status, "RANGE_LOST", "The reply is not about elements.");
      const html = await response.text();
      const elements = parse(html);
      const matches = Number(response.headers.get("x-selector-matches") ?? elements.length);
      if (matches === 0 && body !== null) throw noMatch(selector);
      tag = strongTag(response);
      return { result: { html, elements, matches }, isWritten: method !== "GET" && matches > 0 };
    });
  }

  /** What the elements are then is not known: the next write has no condition, until they are read. */
  async function edit(each: Unselected<Edit>): Promise<number | undefined> {
    const made = await editPage(page, [{ ...each, selector, etag: tag } as Edit]);
    const matches = made.edits[0]?.matches;
    if (matches === 0) throw noMatch(selector);
    tag = undefined;
    return matches;
  }

  async function update(change: (element: Element) => unknown): Promise<StoredElements> {
    for (let attempt = 1; ; attempt += 1) {
      const { elements, matches } = await ask("GET");
      const [element] = elements;
      if (!element) throw noMatch(selector);
      if (matches > 1) throw new PageError(206, "SEVERAL_MATCHES", `${selector} selects ${matches} elements.`);
      const changed = await change(element);
      try {
        return await ask("PUT", changed instanceof Element ? changed : element);
      } catch (error) {
        if (!(error instanceof PageError) || error.status !== 412 || attempt === maxAttempts) throw error;
      }
    }
  }

  /** The next request has to know the tag that the one before is answered with. */
  function inTurn<Result>(request: () => Promise<Result>): Promise<Result> {
    const asked = last.then(request, request);
    last = asked;
    return asked;
  }

  return {
    selector,
    get: () => inTurn(() => ask("GET")),
    replace: (content) => inTurn(() => ask("PUT", content)),
    append: (content, { id } = {}) => inTurn(() => ask("POST", id === undefined ? content : withIds(content, id))),
    update: (change) => inTurn(() => update(change)),
    remove: ({ mustExist = false } = {}) =>
      inTurn(async () => {
        const { matches } = await ask("DELETE");
        if (mustExist && matches === 0) throw noMatch(selector);
        return matches;
      }),
    insert: (position, content) => inTurn(() => edit({ op: "insert", position, html: htmlOf(content) })),
    move: (to, position) => inTurn(() => edit({ op: "move", to, position })),
    setContent: (html) => inTurn(() => edit({ op: "setContent", html })),
    setText: (text) => inTurn(() => edit({ op: "setText", text })),
    setAttribute: (name, value) => inTurn(() => edit({ op: "setAttribute", name, value })),
    removeAttribute: (name) => inTurn(() => edit({ op: "removeAttribute", name })),
    addClass: (classes) => inTurn(() => edit({ op: "addClass", class: classes })),
    removeClass: (classes) => inTurn(() => edit({ op: "removeClass", class: classes })),
  };
}

function noMatch(selector: string): PageError {
  return new PageError(204, "NO_MATCH", `Nothing matches ${selector}.`);
}

/** The entity tag of a reply. The server's tags are strong; weak is what a proxy that compresses makes of them. */
export function strongTag({ headers }: Response): string | undefined {
  return headers.get("etag")?.replace(/^W\//, "");
}

function htmlOf(content: string | Element): string {
  if (!(content instanceof Element)) return content;
  const stored = dom(content).cloneNode(true) as Element;
  for (const local of dom(stored).querySelectorAll(localMark)) dom(local).remove();
  return dom(stored).outerHTML;
}

function withIds(content: string | Element, prefix: string): string {
  const template = templateOf(htmlOf(content));
  for (const element of template.content.children) {
    const [number] = crypto.getRandomValues(new Uint32Array(1));
    if (!dom(element).getAttribute("id")) dom(element).setAttribute("id", `${prefix}-${number}`);
  }
  return template.innerHTML;
}

function parse(html: string): readonly Element[] {
  const [, whole] = /^<(html|head|body)\b/i.exec(html) ?? [];
  if (whole) return [...dom(new DOMParser().parseFromString(html, "text/html")).querySelectorAll(whole)];
  return [...templateOf(html).content.children];
}

/** Parses a `tr` as well, and runs nothing. */
function templateOf(html: string): HTMLTemplateElement {
  const template = dom(document).createElement("template") as HTMLTemplateElement;
  template.innerHTML = html;
  return template;
}
