// Several hosts in one server, each with its own files and rules; "*" answers for every other name.
// Run: npm run build && node examples/virtual-hosts.mjs
// Try: curl -H "Host: docs.example" http://127.0.0.1:3000/
import { createServer } from "node:http";
import { createFileServer, memoryStorage } from "filement";

const files = createFileServer({
  maxFileSize: 1024 * 1024, // for every host that says nothing else
  hosts: {
    "www.example": {
      aliases: ["example"],
      storage: memoryStorage({ "/index.html": "<h1>Welcome</h1>" }),
    },
    "docs.example": {
      storage: memoryStorage({ "/guide.html": "<h1>Guide</h1>", "/notes.txt": "First note\n" }),
      index: false, // always list
    },
    "*": {
      storage: memoryStorage({ "/index.html": "<h1>No such host here</h1>" }),
      listing: false,
    },
  },
});

const server = createServer(files);
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  const address = server.address();
  console.log(`listening on http://127.0.0.1:${typeof address === "object" ? address?.port : address}`);
});
