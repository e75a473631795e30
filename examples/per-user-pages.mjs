// A board of notes in one HTML page: everybody reads it, each user changes just the notes of their own, and has a
// directory of their own besides.
// Run: npm run build && node examples/per-user-pages.mjs
// Try: curl -u ada:engine -X PUT -H 'Range: selector=[data-owner=ada]' -d '<li data-owner=ada>Done</li>' \
//   http://127.0.0.1:3000/board.html
import { createServer } from "node:http";
import { basicAuth, createFileServer, memoryStorage } from "filement";

const board = `<!doctype html>
<title>Board</title>
<ul>
<li data-owner="ada">Ada's note</li>
<li data-owner="bob">Bob's note</li>
</ul>
`;
const passwords = new Map([
  ["ada", "engine"],
  ["bob", "bees"],
]);

const auth = basicAuth({
  // Asked for each request: a function may look into a database. This one is for trying things out only.
  users: (username, password) => passwords.get(username) === password,
  rules: [
    { username: "*", path: "/*", methods: ["GET"], permission: "allow" },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the name of whoever asks goes there, quoted
    { username: "*", path: "/board.html", selector: '[data-owner="${username}"]', permission: "allow" },
    { username: ":username", path: "/users/:username/*", permission: "allow" },
  ],
});

const storage = memoryStorage({ "/board.html": board });
const server = createServer(createFileServer({ storage, plugins: [auth] }));
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  const address = server.address();
  console.log(`listening on http://127.0.0.1:${typeof address === "object" ? address?.port : address}`);
});
