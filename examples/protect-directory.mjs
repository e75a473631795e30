// Everybody may read, only Ada may write, and nobody but her sees /drafts.
// Run: npm run build && node examples/protect-directory.mjs
// Try: curl -u ada:engine -T README.md http://127.0.0.1:3000/drafts/readme.txt
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { basicAuth, createFileServer } from "filement";

const root = process.env["ROOT"] ?? fileURLToPath(new URL("site", import.meta.url));
const files = createFileServer({
  root,
  plugins: [
    basicAuth({
      realm: "Example",
      // From `htpasswd -nB -C 10 ada`; the password is "engine". With `authfile` users come from a file instead.
      users: [{ username: "ada", password: "$2y$10$PItV98z7ZTM68Rg/mpNP1uX3yJJyDm0VeKbBGGs./ttc7PeFo/QPK" }],
      rules: [
        { username: "*", path: "/*", methods: ["GET"], permission: "allow" },
        { username: "*", path: "/drafts/*", permission: "deny" },
        { username: "ada", path: "/*", permission: "allow" },
      ],
    }),
  ],
});

const server = createServer(files);
await files.ready(); // a users file that cannot be used shows here
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  const address = server.address();
  console.log(`listening on http://127.0.0.1:${typeof address === "object" ? address?.port : address}`);
});
