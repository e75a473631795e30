import { createHash, createHmac } from "node:crypto";
import { request as ask, createServer, type IncomingHttpHeaders } from "node:http";
import { s3Credentials } from "./s3-credentials.mjs";
import { listen } from "./serve.ts";

/**
 * A way to an S3 server that has no conditional DELETE: takes `If-Match` from the request, as if the server did not know it, and
 * signs what is left. Gives its URL; it ends with the test. One request for each object goes on at a time: unlike S3, versitygw
 * reads the properties of one that is replaced partly from before, partly from after it.
 */
export async function plainDeletes(target: string): Promise<string> {
  const { hostname, port } = new URL(target);
  const turns = new Map<string, Promise<unknown>>();
  const server = createServer(async (incoming, outgoing) => {
    const object = incoming.url?.split("?", 1)[0] ?? "";
    const before = turns.get(object);
    turns.set(object, new Promise((resolve) => outgoing.once("close", resolve)));
    await before;
    const headers = { ...incoming.headers };
    if (incoming.method === "DELETE" && headers["if-match"] !== undefined) {
      delete headers["if-match"];
      headers.authorization = signature(incoming.url ?? "", headers);
    }
    const passed = ask({ hostname, port, method: incoming.method, path: incoming.url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on("error", () => outgoing.destroy());
    outgoing.on("close", () => passed.destroy());
    incoming.pipe(passed);
  });
  return `http://127.0.0.1:${await listen(server)}`;
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

/** Signature Version 4 of a DELETE without the condition. */
function signature(url: string, headers: IncomingHttpHeaders): string {
  const [path = "", query = ""] = url.split("?", 2);
  const [, names = ""] = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? "") ?? [];
  const signed = names.split(";").filter((name) => name !== "if-match");
  const time = String(headers["x-amz-date"]);
  const fields = signed.map((name) => `${name}:${headers[name]}\n`).join("");
  const canonical = ["DELETE", path, query, fields, signed.join(";"), headers["x-amz-content-sha256"]].join("\n");
  const scope = `${time.slice(0, 8)}/us-east-1/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n");
  const key = scope.split("/").reduce<string | Buffer>(hmac, `AWS4${s3Credentials.secretAccessKey}`);
  const credential = `${s3Credentials.accessKeyId}/${scope}`;
  return `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${signed.join(";")}, Signature=${hmac(key, text).toString("hex")}`;
}
