// A server that shares its changes: node servers/shared-feed.mjs <redis url>. Tells where it listens, and ends with its parent.
import { createServer } from "node:http";
import { createFileServer, memoryStorage, webSocket } from "filement";

const files = createFileServer({ storage: memoryStorage({}), feed: process.argv[2], plugins: [webSocket()] });
await files.ready();
const server = createServer();
files.attach(server);
server.listen(0, "127.0.0.1", () => process.send?.(server.address()));
process.once("disconnect", () => process.exit());
