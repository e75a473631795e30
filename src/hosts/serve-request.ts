import type { ClientAddresses } from "../http/client-address.ts";
import { HttpError } from "../http/http-error.ts";
import { isChange, methodsWithContent } from "../http/methods.ts";
import { isCrossSite } from "../http/origin.ts";
import { parseHost, parseRequestPath } from "../http/request-target.ts";
import { type TakePlace, tooLarge } from "../server/admission.ts";
import { errorReply } from "../server/error-reply.ts";
import { Exchange, type IncomingRequest } from "../server/exchange.ts";
import { notify } from "../server/logger.ts";
import type { Outcome } from "../server/plugin.ts";
import { completeReply, type Reply, type Sent } from "../server/reply.ts";
import type { LifeCycle } from "./life-cycle.ts";
import type { HostedSite, VirtualHosts } from "./site.ts";

/** Sends a reply to the client, or gives `undefined` where it passed the request on. */
export type Deliver = (reply: Reply) => Promise<Sent> | Sent | undefined;
export type PassOn = (error?: unknown) => void;
/** Takes over the connection of a handshake; `false` if another listener has it, or middleware has answered. */
export type Claim = () => Promise<boolean>;

/** Answers a request or passes it on; with `claim`, only a handshake that a plugin answers. Never rejects. */
export type ServeRequest = (
  incoming: IncomingRequest,
  deliver: Deliver,
  passOn?: PassOn,
  claim?: Claim,
) => Promise<void>;

interface RequestPathParts {
  readonly clients: ClientAddresses;
  readonly life: LifeCycle;
  /** Takes a place for a request with content. */
  readonly takeUpload: TakePlace;
  readonly hosts: VirtualHosts;
  /** Stands for the host of a request that named an unknown host. */
  readonly nowhere: HostedSite;
}

/** The whole path of a request, in order: address and host, checks, the host's plugins, the reply, the observers. */
export function requestPath({ clients, life, takeUpload, hosts, nowhere }: RequestPathParts): ServeRequest {
  return async (incoming, deliver, passOn, claim) => {
    const addressed = readAddress(incoming, clients);
    const { path, search, host, protocol } = addressed;
    const site = hosts.find(host) ?? nowhere;
    const exchange = new Exchange({ incoming, site, clients, path, search, host, protocol });
    await converse(life, site, exchange, () => answer(exchange, site, addressed, passOn, claim), deliver);
  };

  /** `undefined` for what is left to the application around. */
  async function answer(
    exchange: Exchange,
    site: HostedSite,
    addressed: Addressed,
    passOn: PassOn | undefined,
    claim: Claim | undefined,
  ): Promise<Reply | undefined> {
    try {
      if (claim && !((await isUpgradeOfPlugin(exchange, site, addressed)) && (await claim()))) return undefined;
      // Before anything is checked, counted or refused.
      if (passOn && !site.options.methods.includes(exchange.method)) {
        passOn();
        return undefined;
      }
      if (addressed.problem) throw addressed.problem.thrown;
      if (site === nowhere) throw new HttpError(421, "UNKNOWN_HOST", "No host of that name is served here.");
      if (!life.isSettled) await life.ready();
      return await admit(exchange, site, addressed);
    } catch (error) {
      return errorReply(exchange, error);
    }
  }

  async function isUpgradeOfPlugin(exchange: Exchange, site: HostedSite, { problem }: Addressed): Promise<boolean> {
    if (problem) return false;
    try {
      if (!life.isSettled) await life.ready().catch(() => {}); // the reply tells why
      return await site.answersUpgrade(exchange);
    } catch (error) {
      site.report(error, exchange);
      return false;
    }
  }

  function admit(exchange: Exchange, site: HostedSite, { authority }: Addressed): Promise<Reply> {
    refuseTransferCoding(exchange);
    refuseTooLarge(exchange);
    refuseCrossSite(exchange, authority);
    if (methodsWithContent.has(exchange.method)) exchange.defer(takeUpload(exchange.address));
    return life.outage() ? site.answerDuringOutage(exchange) : site.answer(exchange);
  }
}

interface Addressed extends Pick<Exchange, "path" | "search" | "host" | "protocol"> {
  /** Host and port, as the client spelled them. */
  readonly authority: string;
  /** Why there is no answer but an error. The request is still an exchange, for the access log. */
  readonly problem: { readonly thrown: unknown } | undefined;
}

function readAddress(incoming: IncomingRequest, clients: ClientAddresses): Addressed {
  const { headers } = incoming;
  let protocol: Addressed["protocol"] = incoming.encrypted ? "https" : "http";
  try {
    if (incoming.refusal) throw incoming.refusal;
    const forwarded = (name: "x-forwarded-host" | "x-forwarded-proto"): string | undefined =>
      headers[name] !== undefined && clients.trusts(incoming.peer)
        ? [headers[name]].flat()[0]?.split(",", 1)[0]?.trim()
        : undefined;
    if (forwarded("x-forwarded-proto") === "https") protocol = "https";
    if (incoming.target === undefined) throw new HttpError(404, "NOT_FOUND", "The files are mounted elsewhere.");
    const { path, search, authority: asked } = parseRequestPath(incoming.target);
    // The next server may take the other one (RFC 9112 §3.2).
    if (incoming.count("host") > 1) throw new HttpError(400, "INVALID_HOST", "There are several Host fields.");
    const sent = headers[":authority"]?.toString() ?? headers.host ?? "";
    const authority = forwarded("x-forwarded-host") ?? asked ?? sent;
    return { path, search, authority, host: parseHost(authority), protocol, problem: undefined };
  } catch (thrown) {
    return { path: "", search: "", authority: "", host: "", protocol, problem: { thrown } };
  }
}

/** Node decodes chunks and no other coding: the content would be stored as it was coded (RFC 9112 §6.1). */
function refuseTransferCoding({ headers }: Exchange): void {
  const coding = headers["transfer-encoding"];
  if (coding === undefined || coding.trim().toLowerCase() === "chunked") return;
  throw new HttpError(501, "UNSUPPORTED_TRANSFER_CODING", "Send the content plain, or in chunks and not compressed.");
}

function refuseTooLarge({ headers, site }: Exchange): void {
  const { maxFileSize } = site.options;
  if (Number(headers["content-length"] ?? 0) > maxFileSize) throw tooLarge(maxFileSize);
}

/** Browsers let pages write and connect to any site with the user's credentials: only the server can refuse them. */
function refuseCrossSite({ method, isUpgrade, headers, protocol, site }: Exchange, authority: string): void {
  if (!isUpgrade && !isChange(method)) return;
  if (!isCrossSite(headers, { protocol, host: authority }, site.options.allowedOrigins)) return;
  const details = "A page of another site may neither change anything here nor connect a web socket.";
  throw new HttpError(403, "CROSS_SITE", details);
}

/** Answers an exchange, delivers the reply, tells the observers, and releases what the exchange holds. */
export async function converse(
  life: LifeCycle,
  site: HostedSite,
  exchange: Exchange,
  answer: () => Promise<Reply | undefined>,
  deliver: Deliver,
): Promise<Reply | undefined> {
  life.enter();
  try {
    const reply = await answer();
    if (!reply) return undefined;
    if (exchange.congestion) await exchange.congestion;
    return await conclude(exchange, site, reply, deliver);
  } catch (error) {
    // The reply could not even be begun: a plugin gave it a header field that HTTP does not know.
    return await conclude(exchange, site, errorReply(exchange, error), deliver);
  } finally {
    await exchange.end();
    life.leave();
  }
}

async function conclude(exchange: Exchange, site: HostedSite, answered: Reply, deliver: Deliver): Promise<Reply> {
  const reply = completeReply(exchange, answered, site.options.serverHeader);
  const sent = await deliver(reply);
  if (sent) tell(exchange, site, reply, sent);
  return reply;
}

function tell(exchange: Exchange, site: HostedSite, { status, headers }: Reply, sent: Sent): void {
  const { bytes, aborted, failure } = sent;
  if (failure !== undefined) site.report(failure, exchange, status);
  if (site.observers.length === 0) return;
  const { received, startedAt } = exchange;
  const outcome: Outcome = { status, headers, bytes, received, aborted, durationMs: performance.now() - startedAt };
  for (const { plugin, covers } of site.observers) {
    if (!covers(exchange.path)) continue;
    notify(
      () => plugin.observe?.(exchange, outcome),
      (error) => site.report(error, exchange),
    );
  }
}
