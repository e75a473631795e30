import { Buffer } from "node:buffer";
import { randomUUID } from "node:crypto";
import { fairQueue } from "../../event-loop/fair-queue.ts";
import { inSlices, type SlicedWork } from "../../event-loop/sliced-work.ts";
import type { Edit } from "../../html/edit/edits.ts";
import { HttpError } from "../../http/http-error.ts";
import { clientOf } from "../../server/admission.ts";
import type { Exchange } from "../../server/exchange.ts";
import type { InspectedPage } from "../../server/inspection.ts";
import type { InnerAnswer, InnerRequest, PluginSite } from "../../server/plugin.ts";

/** What a tool sends: a request of the client. */
type Asked = Omit<InnerRequest, "client" | "mostBytes"> &
  Partial<Pick<InnerRequest, "mostBytes">> & { readonly ifMatch?: string | undefined };

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

/** One look at a page at a time, in slices, so that many leave the event loop to others as one does. */
const inTurn = fairQueue();

/** Content of an answer that is read at most, in bytes: more than a part of a listing can have. */
const defaultMostBytes = 8 * 1024 * 1024;

/** Sends the requests of one call of a tool as its user. */
export class Calls {
  readonly site: PluginSite;
  readonly client: Exchange;
  readonly #tool: string;

  constructor(site: PluginSite, client: Exchange, tool: string) {
    this.site = site;
    this.client = client;
    this.#tool = tool;
  }

  /** The answer to a request. Throws the error of one that refuses it. */
  async ask({ ifMatch, mostBytes = defaultMostBytes, ...asked }: Asked): Promise<InnerAnswer> {
    const { client } = this;
    const headers = {
      "user-agent": `mcp/${this.#tool} ${client.header("user-agent") ?? ""}`.trim(),
      "x-request-id": `${client.id.slice(0, 90)}.${randomUUID()}`,
      accept: "application/json",
      ...(ifMatch !== undefined && { "if-match": ifMatch }),
      ...asked.headers,
    };
    const answer = await this.site.ask({ ...asked, mostBytes, headers, client });
    const { status, error, headers: got } = answer;
    if (status < 300) return answer;
    if (status < 400) throw new HttpError(409, "ELSEWHERE", `What is meant lies at ${got["location"]}.`);
    // A plugin that answers in its own way may have put it in the place of an error.
    throw error?.status === status ? error : new HttpError(status, `HTTP_${status}`, "A plugin refuses the request.");
  }

  async json(asked: Asked): Promise<object> {
    return JSON.parse((await this.ask(asked)).content.toString()) as object; // as the handlers of this host answer
  }

  /** Looks at a page as a GET of elements finds it. */
  async look<T>(path: string, selector: string, look: (page: InspectedPage) => SlicedWork<T>): Promise<T> {
    let seen: { readonly value: T } | undefined;
    const range = `selector=${Buffer.from(selector).toString("latin1")}`;
    const inspection = {
      look: async (page: InspectedPage) => {
        seen = { value: await inTurn(clientOf(this.client), () => inSlices(look(page))) };
      },
    };
    await this.ask({ method: "GET", path, headers: { range }, inspection });
    if (!seen) throw new HttpError(415, "NOT_HTML", "There is no page here.");
    return seen.value;
  }
}
