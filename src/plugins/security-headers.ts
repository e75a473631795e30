import { checkOptions } from "../options/check-config.ts";
import { pluginOptions } from "../options/option-types.ts";
import { anyOf, type OptionsSchema, recordOf, text, valueThat } from "../options/schema.ts";
import type { Plugin } from "../server/plugin.ts";

/** Options for {@link securityHeaders}. */
export interface SecurityHeadersOptions {
  /** Header fields by name, added to the defaults or in place of them; `false` to leave one out. @default {} */
  readonly headers?: Readonly<Record<string, string | false>> | undefined;
}

/** Fields that protect pages and break no page. */
const defaults: Readonly<Record<string, string>> = {
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "strict-origin-when-cross-origin",
  "strict-transport-security": "max-age=31536000",
  "x-frame-options": "SAMEORIGIN",
};

export const securityHeadersOptions: OptionsSchema = pluginOptions({
  headers: recordOf(
    anyOf(
      [
        text("a text", (value) => value !== "false" && /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value)),
        valueThat((value) => value === false, "false"),
      ],
      "a value for a header field, in printable ASCII, or false",
    ),
    "values by the names of header fields",
    text("the name of a header field", (name) => /^[\w-]+$/.test(name)),
  ),
});

/**
 * Adds the header fields by which browsers protect pages to every reply that lacks them. Put it first, so that refusals
 * have them, too. `Strict-Transport-Security` is sent over HTTPS only. Throws a `ConfigError` for options that cannot
 * work.
 *
 * @example securityHeaders({ headers: { "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'" } });
 */
export function securityHeaders(options: SecurityHeadersOptions = {}): Plugin {
  checkOptions("securityHeaders", securityHeadersOptions, options);
  const fields: Record<string, string> = { ...defaults };
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (value === false) delete fields[name.toLowerCase()];
    else fields[name.toLowerCase()] = value;
  }
  const { "strict-transport-security": _, ...fieldsOfHttp } = fields;
  return {
    name: "security-headers",
    async handle(exchange, next) {
      const reply = await next();
      const added = exchange.protocol === "https" ? fields : fieldsOfHttp;
      return { ...reply, headers: Object.assign({}, added, reply.headers) };
    },
  };
}
