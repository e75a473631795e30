import { checkOptions } from "../options/check-config.ts";
import { pluginOptions } from "../options/option-types.ts";
import { anyOf, integer, type OptionsSchema, oneOf, type Schema, text, valueThat, yesOrNo } from "../options/schema.ts";
import type { Plugin } from "../server/plugin.ts";

/** Where later plugins find the policy of the host, for a page that they put in place of one with its own. */
export const policyOfHost = "content_security_policy";

/** Options for {@link securityHeaders}. A header field that is `false` is not sent. */
export interface SecurityHeadersOptions {
  /** `Content-Security-Policy` of replies that have none of their own. @default false */
  readonly contentSecurityPolicy?: string | false | undefined;
  /** `max-age` of `Strict-Transport-Security` (RFC 6797), in seconds; 0 to send none. Sent over HTTPS only. @default 31536000 */
  readonly hstsMaxAge?: number | undefined;
  /** Whether that holds for all subdomains as well. @default false */
  readonly hstsIncludeSubdomains?: boolean | undefined;
  /** Whether browsers may have the host in their built-in lists, which is hard to undo. @default false */
  readonly hstsPreload?: boolean | undefined;
  /** `X-Frame-Options`: which pages may show these in a frame. @default "SAMEORIGIN" */
  readonly frameOptions?: "DENY" | "SAMEORIGIN" | false | undefined;
  /** `Referrer-Policy`. @default "strict-origin-when-cross-origin" */
  readonly referrerPolicy?: string | false | undefined;
  /** `Permissions-Policy`: which features of browsers pages may use. @default false */
  readonly permissionsPolicy?: string | false | undefined;
  /** `Cross-Origin-Opener-Policy`. @default "same-origin" */
  readonly openerPolicy?: string | false | undefined;
  /** `Cross-Origin-Resource-Policy`: whose pages may embed these files. @default false */
  readonly resourcePolicy?: string | false | undefined;
}

const no: Schema = valueThat((value) => value === false, "false");
const fieldValue: Schema = anyOf(
  [text("a text", (value) => /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value)), no],
  "a value for a header field, in printable ASCII, or false",
);

/** What the options are checked against. */
export const securityHeadersOptions: OptionsSchema = pluginOptions({
  contentSecurityPolicy: fieldValue,
  hstsMaxAge: integer("a whole number of seconds, 0 or more", (seconds) => seconds >= 0),
  hstsIncludeSubdomains: yesOrNo,
  hstsPreload: yesOrNo,
  frameOptions: anyOf([oneOf(["DENY", "SAMEORIGIN"]), no], '"DENY", "SAMEORIGIN" or false'),
  referrerPolicy: fieldValue,
  permissionsPolicy: fieldValue,
  openerPolicy: fieldValue,
  resourcePolicy: fieldValue,
});

/**
 * Adds the header fields by which browsers protect pages to every reply that lacks them. Put it first, so that refusals have
 * them, too. Throws a `ConfigError` for options that cannot work.
 *
 * @example securityHeaders({ contentSecurityPolicy: "default-src 'self'; frame-ancestors 'none'" });
 */
export function securityHeaders(options: SecurityHeadersOptions = {}): Plugin {
  checkOptions("securityHeaders", securityHeadersOptions, options);
  const {
    contentSecurityPolicy = false,
    frameOptions = "SAMEORIGIN",
    referrerPolicy = "strict-origin-when-cross-origin",
    permissionsPolicy = false,
    openerPolicy = "same-origin",
    resourcePolicy = false,
  } = options;
  const fields = sent({
    "content-security-policy": contentSecurityPolicy,
    "x-frame-options": frameOptions,
    "referrer-policy": referrerPolicy,
    "permissions-policy": permissionsPolicy,
    "cross-origin-opener-policy": openerPolicy,
    "cross-origin-resource-policy": resourcePolicy,
  });
  const fieldsOfHttps = { ...fields, ...sent({ "strict-transport-security": transportSecurity(options) }) };
  return {
    name: "security-headers",
    async handle(exchange, next) {
      const reply = await next();
      if (reply.error) exchange.metadata.set(policyOfHost, contentSecurityPolicy);
      return {
        ...reply,
        headers: Object.assign({}, exchange.protocol === "https" ? fieldsOfHttps : fields, reply.headers),
      };
    },
  };
}

function transportSecurity(options: SecurityHeadersOptions): string | false {
  const { hstsMaxAge = 31_536_000, hstsIncludeSubdomains = false, hstsPreload = false } = options;
  if (hstsMaxAge === 0) return false;
  return `max-age=${hstsMaxAge}${hstsIncludeSubdomains ? "; includeSubDomains" : ""}${hstsPreload ? "; preload" : ""}`;
}

function sent(fields: Readonly<Record<string, string | false>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter((field): field is [string, string] => field[1] !== false));
}
