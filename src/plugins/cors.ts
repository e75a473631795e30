import { checkOptions } from "../options/check-config.ts";
import { origin, pluginOptions } from "../options/option-types.ts";
import { anyOf, listOf, type OptionsSchema, oneOf, text, withRule, yesOrNo } from "../options/schema.ts";
import type { Exchange } from "../server/exchange.ts";
import type { Plugin } from "../server/plugin.ts";
import { emptyReply, type Reply, variesBy, withFields } from "../server/reply.ts";

/** Options for {@link cors}. */
export interface CorsOptions {
  /** Origins whose pages may read replies; `["*"]` for all. @default those of the host's option `allowedOrigins` */
  readonly origins?: readonly string[] | undefined;
  /** Request header fields that their scripts may send. @default those of the protocol */
  readonly headers?: readonly string[] | undefined;
  /** Whether cookies and passwords may go along; not with `["*"]`. @default false */
  readonly credentials?: boolean | undefined;
}

/** What the protocol lets clients send beside what every page may send. */
const protocolHeaders = (
  "Accept-Datetime, Authorization, Content-Type, Destination, If-Match, If-Modified-Since, If-None-Match, If-Range, " +
  "If-Unmodified-Since, Overwrite, Prefer, Range, X-Filename, X-Range-Unit, X-Request-ID"
).split(", ");
/** What it answers beside what every page may read. */
const exposed = {
  "access-control-expose-headers":
    "Accept-Patch, Accept-Ranges, Allow, Content-Range, ETag, Link, Location, Memento-Datetime, Preference-Applied, " +
    "Retry-After, X-Normalised, X-Request-ID, X-Selector-Matches",
};
/** How long browsers may remember the answer to a preflight, in seconds. */
const maxAge = "600";

export const corsOptions: OptionsSchema = withRule(
  pluginOptions({
    origins: listOf(
      anyOf([oneOf(["*"]), origin], "an origin as browsers send it, such as https://admin.example, or *"),
      "a list of origins",
    ),
    headers: listOf(
      text("the name of a header field", (name) => /^[\w!#$%&'*+.^`|~-]+$/.test(name)),
      "a list of names of header fields",
    ),
    credentials: yesOrNo,
  }),
  ({ origins = [], credentials = false }: CorsOptions) =>
    credentials && origins.includes("*")
      ? { path: ["credentials"], expected: "false where origins has *: any page could act as the user" }
      : undefined,
);

/**
 * Lets scripts of other origins read replies, and answers their preflights (Fetch Standard, "CORS protocol"). That is
 * for reading: writes from other sites are refused unless the host's `allowedOrigins` names theirs. Put it before
 * authentication. Throws a `ConfigError` for options that cannot work.
 *
 * @example createFileServer({ root: "site", allowedOrigins: ["https://app.example"], plugins: [cors()] });
 */
export function cors(options: CorsOptions = {}): Plugin {
  checkOptions("cors", corsOptions, options);
  const { origins, headers = protocolHeaders, credentials = false } = options;
  const named = origins && new Set(origins);
  const isForAll = named?.has("*") ?? false;

  /** What lets the page that asks read the reply. */
  function permission({ site, headers: { origin } }: Exchange): Reply["headers"] | undefined {
    if (isForAll) return { "access-control-allow-origin": "*" };
    if (origin === undefined || !(named ?? site.options.allowedOrigins).has(origin)) return undefined;
    return {
      "access-control-allow-origin": origin,
      ...(credentials && { "access-control-allow-credentials": "true" }),
    };
  }

  function preflightReply(exchange: Exchange): Reply {
    const allowed = permission(exchange);
    if (!allowed) return emptyReply(204);
    return emptyReply(204, {
      ...allowed,
      "access-control-allow-methods": exchange.site.options.methods.join(", "),
      "access-control-allow-headers": headers.join(", "),
      "access-control-max-age": maxAge,
    });
  }

  return {
    name: "cors",
    async handle(exchange, next) {
      const isPreflight =
        exchange.method === "OPTIONS" && exchange.header("access-control-request-method") !== undefined;
      const reply = isPreflight && exchange.headers.origin !== undefined ? preflightReply(exchange) : await next();
      const allowed = isPreflight ? undefined : permission(exchange);
      const answered = allowed ? withFields(reply, allowed, exposed) : reply;
      return isForAll ? answered : variesBy(answered, "origin");
    },
  };
}
