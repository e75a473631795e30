// Resumable uploads by the tus protocol beside the files: finished ones are moved in whole, by the rules of the server.
// Run: npm install @tus/server @tus/file-store && node examples/uploads/resumable.mjs
import { createReadStream } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { FileStore } from "@tus/file-store";
import { Server } from "@tus/server";
import { createFileServer, guard, memoryStorage } from "filement";

const token = "Bearer s3cret";
const root = process.env["ROOT"];
const files = createFileServer({
  ...(root ? { root } : { storage: memoryStorage() }),
  maxFileSize: 2 ** 31,
  plugins: [guard({ permits: ({ right, exchange }) => right === "read" || exchange.headers.authorization === token })],
});
const parts = process.env["PARTS"] ?? join(tmpdir(), "filement-uploads"); // outside of the root: parts are no files yet
const datastore = new FileStore({ directory: parts });
const targetOf = ({ metadata }) => `http://localhost/inbox/${encodeURIComponent(metadata?.filename ?? "upload")}`;

const tus = new Server({
  path: "/uploads",
  datastore,
  // Who may not write there is told before the first byte, and by the same rules.
  async onUploadCreate({ headers }, upload) {
    const offered = await files.fetch(new Request(targetOf(upload), { method: "OPTIONS", headers: signIn(headers) }));
    if (!offered.headers.get("allow")?.includes("PUT"))
      throw { status_code: 403, body: "You may not store that here." };
    return {};
  },
  async onUploadFinish({ headers }, upload) {
    const body = Readable.toWeb(createReadStream(join(parts, upload.id)));
    const fields = { ...signIn(headers), "content-length": String(upload.size), "if-none-match": "*" };
    const reply = await files.fetch(
      new Request(targetOf(upload), { method: "PUT", headers: fields, body, duplex: "half" }),
    );
    if (reply.status !== 201) throw { status_code: reply.status, body: await reply.text() };
    await datastore.remove(upload.id);
    return { headers: { "Content-Location": reply.headers.get("location") ?? "" } };
  },
});
const signIn = (headers) => ({
  authorization: headers.get("authorization") ?? "",
  cookie: headers.get("cookie") ?? "",
});

const server = createServer((request, response) =>
  request.url?.startsWith("/uploads") ? tus.handle(request, response) : files(request, response),
);
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () =>
  console.log(`listening on http://127.0.0.1:${server.address().port}`),
);
