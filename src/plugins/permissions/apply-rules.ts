import { HttpError } from "../../http/http-error.ts";
import { asksForSelectors, documentKind, isSelectorRange } from "../../http/selector-range.ts";
import { type Access, permitsAll, rightsOf, type User } from "../../server/access.ts";
import type { Exchange } from "../../server/exchange.ts";
import type { Next } from "../../server/plugin.ts";
import { type Reply, variesBy } from "../../server/reply.ts";
import type { Permissions } from "./rules.ts";

/** Who a client is, and by which rules it is judged. */
export interface Verdict {
  readonly permissions: Permissions;
  /** `undefined` for an anonymous client. */
  readonly user: User | undefined;
}

export interface Guarding extends Verdict {
  /** The verdict of later, for connections that stay open; `"gone"` for a user who does not exist any more. */
  renewed(): Verdict | "gone";
  unauthorized(): HttpError;
  /** Request header fields that tell users apart; caches have to compare them. */
  readonly vary: readonly string[];
}

/**
 * Lets later plugins see a request only if the client has a right that the method could need, and puts the rules in
 * place of `exchange.access`, so that operations, listings, `Allow` and live connections follow them.
 */
export async function applyRules(exchange: Exchange, next: Next, guarding: Guarding): Promise<Reply> {
  const { user, vary } = guarding;
  if (user) {
    exchange.user = user;
    exchange.metadata.set("authenticated_user", user.name);
  }
  let isJudged = false;
  exchange.access = accessOf(exchange, guarding, () => {
    isJudged = true;
  });
  const admitted = admit(exchange);
  isJudged = false; // so far only `admit` has asked
  const reply = await next();
  // A plugin that ignores selectors answers with whole files.
  const hasContent = reply.status < 400 && reply.status !== 204;
  if (admitted === "for elements" && !isJudged && hasContent) throw exchange.access.refusal();
  return variesBy(reply, ...vary);
}

/** The access of one client, within what earlier plugins allow. `onJudged` is called for each question. */
function accessOf(exchange: Exchange, guarding: Guarding, onJudged: () => void): Access {
  const { renewed, unauthorized, vary } = guarding;
  const before = exchange.access;
  const current = (): Access => {
    const renewedBefore = before.current?.() ?? before;
    const verdict = renewed();
    // A user who was removed has no access, not even that of anonymous clients.
    if (verdict === "gone")
      return { permitsPath: () => false, permitsElements: () => false, current, refusal: unauthorized };
    exchange.user = verdict.user; // a guard behind decides by it
    return bound(verdict, renewedBefore);
  };
  const bound = ({ permissions, user }: Verdict, limits: Access, judged: () => void = () => {}): Access => ({
    permitsPath(right, path) {
      judged();
      return permitsAll(path, (each) => permissions.permits(user, right, each)) && limits.permitsPath(right, path);
    },
    permitsElements(right, path, elements) {
      if (elements !== "any") judged();
      return permissions.permits(user, right, path, elements) && limits.permitsElements(right, path, elements);
    },
    selectorsOf: (path) => [
      ...new Set([...permissions.selectorsOf(user, path), ...(limits.selectorsOf?.(path) ?? [])]),
    ],
    current,
    refusal: () =>
      user
        ? new HttpError(403, "FORBIDDEN", "You may not do this.", { headers: { vary: ["accept", ...vary].join(", ") } })
        : unauthorized(),
  });
  return bound(guarding, before, onJudged);
}

/**
 * Decides by path and method alone, so that every later plugin is protected, and a refusal does not tell whether the
 * file exists. A user who may access only some elements passes; the elements are judged once they are known.
 */
export function admit({ method, path, headers, access }: Exchange): "for the whole" | "for elements" {
  const place = path === "*" ? "/" : path; // the server as a whole, which OPTIONS asks about
  const rights = rightsOf(method);
  if (rights.some((right) => access.permitsPath(right, place))) return "for the whole";
  const isAboutElements =
    isSelectorRange(headers.range) || method === "PATCH" || (method === "OPTIONS" && asksForSelectors(headers));
  const hasExtension = place.lastIndexOf(".") > place.lastIndexOf("/");
  // A document may stand in for a path without an extension.
  const isPossible = (documentKind(place) !== undefined || !hasExtension) && isAboutElements;
  if (isPossible && rights.some((right) => access.permitsElements(right, place, "any"))) return "for elements";
  throw access.refusal();
}
