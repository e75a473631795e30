import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { entityTag } from "../http/entity-tag.ts";
import { evaluatePreconditions, preconditionFailed, type Validators } from "../http/preconditions.ts";
import { requireReading } from "../server/access.ts";
import type { Plugin } from "../server/plugin.ts";
import type { Reply } from "../server/reply.ts";

/** Where pages find the module, below the mount. RFC 8615 keeps these names free for such things. */
const modulePath = "/.well-known/filement/client.js";

// The compiled module, from the compiled library as well as from its source.
const moduleFile = new URL("../../dist/client/client.js", import.meta.url);

/** The browser module, as it is sent. */
interface Served extends Validators {
  readonly content: Uint8Array;
}

/**
 * Serves the browser module `filement/client`, which is read once, at the start. A host has one by itself, before its file
 * handler, with the option `client`.
 */
export function clientModule(): Plugin {
  let served: Promise<Served> | undefined;
  return {
    name: "client-module",
    async start() {
      served ??= readModule(); // hosts may share the plugin
      await served;
    },
    async handle(exchange, next) {
      const { method, path, headers, isUpgrade } = exchange;
      if (path !== modulePath || isUpgrade || !served) return next();
      requireReading(exchange);
      const { content, ...validators } = await served;
      const verdict = evaluatePreconditions(method, headers, validators);
      if (verdict === "failed") throw preconditionFailed(validators);
      // A browser that kept a module of an older version would not understand the server: it has to ask each time.
      const fields = {
        etag: validators.etag,
        "last-modified": validators.modified.toUTCString(),
        "cache-control": "no-cache",
      };
      if (verdict === "not-modified") return { status: 304, headers: fields };
      return reply(content, fields);
    },
  };
}

async function readModule(): Promise<Served> {
  const [content, { mtime }] = await Promise.all([readFile(moduleFile), stat(moduleFile)]);
  // Of the content: machines behind one load balancer then agree on it.
  const etag = entityTag(createHash("sha256").update(content).digest("base64url").slice(0, 22));
  return { content, etag, modified: mtime };
}

function reply(content: Uint8Array, fields: Reply["headers"]): Reply {
  return { status: 200, headers: { ...fields, "content-type": "text/javascript; charset=utf-8" }, body: content };
}
