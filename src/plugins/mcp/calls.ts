import { Buffer } from "node:buffer";
import type { Edit } from "../../html/edit/edits.ts";
import { HttpError } from "../../http/http-error.ts";
import { encodePath, parseRequestPath } from "../../http/request-target.ts";
import type { Exchange } from "../../server/exchange.ts";
import type { InspectedPage } from "../../server/inspection.ts";
import type { InnerAnswer, InnerRequest, PluginSite } from "../../server/plugin.ts";

/** What a tool sends: a request of the client. */
type Asked = Omit<InnerRequest, "client" | "mostBytes"> & {
  readonly mostBytes?: number;
  /** Where a MOVE leads. */
  readonly destination?: string;
};

/** Arguments that the schema of the tool has accepted; the path is canonical. */
export interface Args {
  readonly path: string;
  readonly selector?: string;
  readonly text?: string;
  readonly from?: number;
  readonly after?: string;
  readonly maxCharacters?: number;
  readonly edits: readonly Edit[];
  readonly ifMatch?: string;
  readonly createOnly?: boolean;
  readonly dryRun?: boolean;
  readonly content: string;
  readonly to: string;
  readonly commit: string;
  readonly goBack?: boolean;
}

type Told = Readonly<Record<string, unknown>>;

/** Why a call failed, as the model is told: at least `code` and `message`. */
export class CallError extends Error {
  override readonly name = "CallError";
  readonly status: number | undefined;
  readonly told: Told;

  constructor(told: Told, status?: number) {
    super(String(told["message"]));
    this.status = status;
    this.told = told;
  }
}

/** Content of an answer that is read at most, in bytes. */
const mostBytes = 256 * 1024;

const noElements = "This file has no elements: `read` it without a selector, and use `write`.";
const steps: Readonly<Record<string, string>> = {
  401: "The server did not accept the sign-in: tell the person whom you work for.",
  403: "This user may not do that here: do not try again. `outline` and `list` show what may be read.",
  404: "Nothing is there: `list` the directory, or `find` the page.",
  409: "Look at what is there with `list` or `read`, and choose another way.",
  412: "It has changed meanwhile: `read` it again, and repeat this with the new tag if it still makes sense.",
  413: "It is too large: work on smaller parts.",
  415: noElements,
  416: noElements,
  429: "Wait as long as the message says, then repeat the same call.",
  503: "Wait a few seconds, then repeat the same call.",
  INVALID_SELECTOR: "Correct the selector: `outline` lists selectors that select something.",
  SELECTOR_TOO_COSTLY: "Use a simpler selector, best one from `outline`.",
  NO_MATCH: "Use a selector that selects something: one of `now`, or from `outline`.",
  NOT_TEXT: "Do not read it: there are no tools for such files.",
  NO_CONDITION: "For a new file say createOnly: true; for another one `read` it, and pass its etag as ifMatch.",
  METHOD_NOT_ALLOWED: "The server does not take this here; it may be for reading only.",
};

/** What a model is told of an error, with what to do next; `undefined` for one of the server itself. */
export function toldOf(thrown: unknown): Told | undefined {
  if (!(thrown instanceof HttpError || thrown instanceof CallError)) return undefined;
  const told = thrown instanceof CallError ? thrown.told : { code: thrown.code, message: thrown.message };
  const step = steps[String(told["code"])] ?? steps[String(thrown.status)];
  return { ...told, next: step ?? "Correct the call by what the message says." };
}

/** Sends the requests of one call of a tool as its user. */
export class Calls {
  readonly #site: PluginSite;
  readonly #client: Exchange;
  readonly #tool: string;
  static #sent = 0;

  constructor(site: PluginSite, client: Exchange, tool: string) {
    this.#site = site;
    this.#client = client;
    this.#tool = tool;
  }

  /** The answer to a request. Throws a {@link CallError} for one that refuses it. */
  async ask({ destination, ...asked }: Asked): Promise<InnerAnswer> {
    const { id, mount } = this.#client;
    Calls.#sent += 1;
    const headers = {
      "user-agent": `mcp/${this.#tool} ${this.#client.header("user-agent") ?? ""}`.trim(),
      "x-request-id": `${id.slice(0, 110)}.${Calls.#sent}`,
      accept: "application/json",
      ...asked.headers,
      ...(destination !== undefined && { destination: mount + encodePath(destination) }),
    };
    const answer = await this.#site.ask({ mostBytes, ...asked, headers, client: this.#client });
    if (answer.status >= 400) throw refusal(answer);
    return answer;
  }

  async json(asked: Asked): Promise<object> {
    const answer: unknown = JSON.parse((await this.ask(asked)).content.toString());
    if (typeof answer !== "object" || answer === null) throw new TypeError("the server answered no object");
    return answer;
  }

  /** Looks at a page as a GET of elements finds it. */
  async look<T>(path: string, selector: string, look: (page: InspectedPage) => Promise<T>): Promise<T> {
    let seen: { readonly value: T } | undefined;
    const range = `selector=${Buffer.from(selector).toString("latin1")}`;
    const inspection = {
      look: async (page: InspectedPage) => {
        seen = { value: await look(page) };
        return {};
      },
    };
    await this.ask({ method: "GET", path, headers: { range }, inspection });
    if (!seen) throw new CallError({ code: "NOT_HTML", message: "There is no page here." }, 415);
    return seen.value;
  }

  /** Where the plugin `history` keeps what is said of a file. */
  pastOf(path: string): string {
    return (this.#site.history?.base ?? "/").slice(0, -1) + path;
  }
}

/** A path as a model writes it, in its canonical form. Throws an `HttpError` for text that is not a path. */
export function pathOf(text: string): string {
  return parseRequestPath(encodePath(text)).path;
}

/** The error of a reply. Where a plugin words it in its own way, only the status is told. */
function refusal({ status, headers, content }: InnerAnswer): CallError {
  let body: Told = {};
  try {
    body = JSON.parse(content.toString()) as Told;
  } catch {
    // A page for people.
  }
  const { code = `HTTP_${status}`, details, message = details, error, index } = body;
  const etag = status === 412 ? headers["etag"] : undefined;
  return new CallError({ code, message: message ?? error, index, etag }, status);
}
