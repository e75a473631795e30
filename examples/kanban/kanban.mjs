// A board of cards that several people move at once: every move is one edit, so a card is always in just one place.
import { cp, mkdtemp } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createFileServer, webSocket } from "filement";

const root = process.env["ROOT"] ?? (await mkdtemp(join(tmpdir(), "kanban-")));
if (!process.env["ROOT"]) await cp(fileURLToPath(new URL("site", import.meta.url)), root, { recursive: true });
const files = createFileServer({ root, client: true, plugins: [webSocket()] });
const server = createServer();
files.attach(server);
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  const address = server.address();
  console.log(`listening on http://localhost:${typeof address === "object" ? address?.port : address}/`);
});
