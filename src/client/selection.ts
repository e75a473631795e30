import { dom } from "./dom.ts";
import { PageError, refusal, unanswered } from "./page-error.ts";
import { localMark } from "./selector-of.ts";

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
  /** Gives elements that have no `id` one that begins so and ends in a random number: `"item"` makes `item-2916017374`. @default none */
  readonly id?: string;
}

/**
 * Elements of a page, and what was last seen of them. Once it has read or written them, it writes only if they are still the
 * same (412 `PRECONDITION_FAILED` otherwise); a new one for the same selector writes whatever is there. What is asked of one
 * selection is done one after the other. All methods reject with a {@link PageError}.
 */
export interface Selection {
  readonly selector: string;
  /** Reads the elements; where none matches, there are none, and that is no error. */
  get(): Promise<StoredElements>;
  /** Puts something else in place of each element. Gives what stands there now. */
  replace(content: string | Element): Promise<StoredElements>;
  /** Adds to the end of each element. Gives the elements as they are now; under `draft-00`, what was added. */
  append(content: string | Element, options?: AppendOptions): Promise<StoredElements>;
  /** Removes the elements. Gives how many there were; 0 is no error. */
  remove(): Promise<number>;
}

/** What a selection needs of its page. */
export interface Requesting {
  readonly url: string;
  readonly credentials: RequestCredentials;
  /** Told of a write before it is sent, and how it ended. */
  readonly writes: { begin(requestId: string): void; fail(requestId: string): void; done(requestId: string): unknown };
}

const nothing: StoredElements = { html: "", elements: [], matches: 0 };

/** Makes a {@link Selection}. */
export function select({ url, credentials, writes }: Requesting, selector: string): Selection {
  let tag: string | undefined;
  let last: Promise<unknown> = Promise.resolve();

  async function send(method: string, content?: string | Element): Promise<StoredElements> {
    const requestId = randomId();
    const isRead = method === "GET";
    const body = content instanceof Element ? storedHtml(content) : (content ?? null);
    const headers = {
      range: `selector=${headerText(selector)}`,
      "x-range-unit": "selector", // should a proxy remove the range, this is refused and not done to the whole page
      "x-request-id": requestId,
      ...(body !== null && { "content-type": "text/html" }),
      ...(!isRead && tag && { "if-match": tag }),
    };
    if (!isRead) writes.begin(requestId);
    try {
      const response = await fetch(url, { method, headers, body, credentials, cache: "no-store" });
      if (!response.ok) {
        const error = await refusal(response);
        if (body === null && error.code === "NO_MATCH") return nothing; // under `draft-00` that is an error
        throw error;
      }
      const { status } = response;
      if (status < 204) throw new PageError(status, "RANGE_LOST", "The reply is not about elements.");
      const html = await response.text();
      const elements = parse(html);
      const matches = Number(response.headers.get("x-selector-matches") ?? elements.length);
      if (matches === 0 && body !== null) throw new PageError(status, "NO_MATCH", `Nothing matches ${selector}.`);
      tag = strongTag(response);
      if (!isRead && matches > 0) await writes.done(requestId);
      return { html, elements, matches };
    } catch (error) {
      if (error instanceof PageError) {
        writes.fail(requestId);
        throw error;
      }
      throw unanswered(error); // what was sent may have been done all the same
    }
  }

  /** The next request has to know the tag that the one before is answered with. */
  function inTurn<Result>(ask: () => Promise<Result>): Promise<Result> {
    const asked = last.then(ask, ask);
    last = asked;
    return asked;
  }

  return {
    selector,
    get: () => inTurn(() => send("GET")),
    replace: (content) => inTurn(() => send("PUT", content)),
    append: (content, { id } = {}) => inTurn(() => send("POST", id === undefined ? content : withIds(content, id))),
    remove: () => inTurn(async () => (await send("DELETE")).matches),
  };
}

/** The entity tag of a reply. The server's tags are strong; weak is what a proxy that compresses makes of them. */
export function strongTag({ headers }: Response): string | undefined {
  return headers.get("etag")?.replace(/^W\//, "");
}

/** An element as it is to be stored. */
function storedHtml(element: Element): string {
  const stored = dom(element).cloneNode(true) as Element;
  for (const local of dom(stored).querySelectorAll(localMark)) dom(local).remove();
  return dom(stored).outerHTML;
}

/** Content to store, with an id for each element that has none. */
function withIds(content: string | Element, prefix: string): string {
  const template = templateOf(content instanceof Element ? storedHtml(content) : content);
  for (const element of template.content.children) {
    const [number] = crypto.getRandomValues(new Uint32Array(1));
    if (!dom(element).getAttribute("id")) dom(element).setAttribute("id", `${prefix}-${number}`);
  }
  return template.innerHTML;
}

/** Header fields hold ASCII; the server decodes what does not parse as it stands. */
function headerText(selector: string): string {
  return /[^ -~]/.test(selector) ? encodeURIComponent(selector) : selector;
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

/** Not `randomUUID`, which browsers have on secure pages only. */
function randomId(): string {
  return [...crypto.getRandomValues(new Uint32Array(4))].join("-");
}
