import { Buffer } from "node:buffer";
import { encodePath, parseRequestPath } from "../http/request-target.ts";
import { fetchIncoming } from "../runtime/fetch-request.ts";
import { unavailable } from "../server/admission.ts";
import { Exchange, type HostRequest } from "../server/exchange.ts";
import type { InnerAnswer, InnerRequest } from "../server/plugin.ts";
import { beginningOf, bodyBytes, isStream, type Reply } from "../server/reply.ts";
import type { LifeCycle } from "./life-cycle.ts";
import { converse } from "./serve-request.ts";
import type { HostedSite } from "./site.ts";

/** A request of the host program itself: the file handler answers it, past all other plugins. */
export interface ProgramRequest extends InnerRequest {
  readonly host: string;
  /** Name of the user for whom it is made. */
  readonly user: string | undefined;
}

/** Answers a request that has no connection: one that a plugin makes for a client, or the host program for itself. */
export async function askInside(
  life: LifeCycle,
  site: HostedSite,
  asked: InnerRequest | ProgramRequest,
): Promise<InnerAnswer> {
  const { client, method, path, search = "", headers = {}, content, mostBytes, inspection } = asked;
  if (life.isClosing && !client) throw unavailable("CLOSING");
  const isProgram = "user" in asked;
  const { protocol = "http", mount = "", address = "127.0.0.1" } = client ?? {};
  const host = isProgram ? asked.host : (client?.host ?? "localhost");
  const url = encodePath(path) + search;
  const body = content === undefined || content.length === 0 ? null : Buffer.from(content as string);
  const init = {
    method,
    headers: { host, ...(client && fieldsOf(client)), ...headers },
    body,
    signal: client?.signal ?? null,
  };
  const request = hostRequest(new Request(`${protocol}://localhost${url}`, init), client?.request);
  const exchange = new Exchange({
    ...{ incoming: fetchIncoming(request, { address }, { prefix: mount, isStripped: true }), site, host, protocol },
    ...{ ...parseRequestPath(url), clients: { address: () => address }, isProgram, inspection },
  });
  if (client) {
    exchange.user = client.user;
    exchange.access = client.access; // rules only take rights away from it
  }
  if (isProgram && asked.user !== undefined) exchange.user = { name: asked.user, roles: [] };
  const answer = async (): Promise<Reply> => {
    await life.ready();
    return isProgram ? site.answerProgram(exchange) : site.answer(exchange);
  };
  let sent: Buffer = Buffer.alloc(0);
  const reply = await converse(life, site, exchange, answer, async (completed) => {
    sent = await contentOf(completed, mostBytes);
    return { bytes: sent.byteLength, aborted: false };
  });
  return { ...(reply as Reply), content: sent, file: exchange.file }; // there is one, since `answer` gives one
}

async function contentOf(reply: Reply, mostBytes: number): Promise<Buffer> {
  const { body } = reply;
  if (!isStream(body) || mostBytes === Number.POSITIVE_INFINITY) return Buffer.from(await bodyBytes(reply));
  return (await beginningOf(body, mostBytes)).subarray(0, mostBytes);
}

/** Fields of a client's request that say who it is, and nothing about its content, go along; so do those of proxies. */
const ofOneRequest =
  /^(?::|accept|connection$|content-|depth$|destination$|expect$|if-|keep-alive$|last-event-id$|mcp-|overwrite$|prefer$|range$|te$|trailer$|transfer-encoding$|upgrade|x-filename$|x-range-unit$|x-request-id$)/;

function fieldsOf({ headers }: Exchange): Record<string, string> {
  const own = Object.entries(headers).filter(([name, value]) => !ofOneRequest.test(name) && value !== undefined);
  return Object.fromEntries(own.map(([name, value]) => [name, [value].flat().join(", ")]));
}

/** Of the request that the framework around has made, about another request: these stay behind. */
const aboutOneRequest = /^(?:_.*|body|originalUrl|baseUrl|query|params|res|next)$/;

/** With what the host program has put into the client's own request, such as its session. */
function hostRequest(request: Request, sent: HostRequest | undefined): Request {
  for (const [name, value] of Object.entries(sent ?? {})) {
    if (!(name in request) && !aboutOneRequest.test(name)) Reflect.set(request, name, value);
  }
  return request;
}
