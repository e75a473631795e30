// A wiki in an Express application: all read, users edit elements of the class `editable`, editors write whole files
// and undo changes at /wiki/history/.
// Run: npm run build && node examples/wiki/wiki.mjs, then sign in as bob with "tea", or as ada with "love".
import { createWriteStream } from "node:fs";
import { createServer } from "node:http";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import express from "express";
import session from "express-session";
import { createFileServer, history, permissions, securityHeaders, webSocket } from "filement";

const users = { ada: { password: "love", roles: ["editor"] }, bob: { password: "tea", roles: [] } };
const sessions = session({ secret: process.env["SECRET"] ?? "a secret", resave: false, saveUninitialized: false });

const files = createFileServer({
  root: process.env["ROOT"] ?? fileURLToPath(new URL("pages", import.meta.url)),
  mount: "/wiki",
  client: true, // the browser module of edit.js
  plugins: [
    // Users may write anything into an element. Scripts run only from files, which editors write.
    securityHeaders({ headers: { "content-security-policy": "script-src 'self'; base-uri 'none'" } }),
    permissions({
      user: ({ request }) => request.session?.user,
      rules: [
        { username: "*", path: "/*", methods: ["GET"], permission: "allow" },
        { username: ":signed-in", path: "/*", methods: ["PUT"], selector: ".editable", permission: "allow" },
        { role: "editor", path: "/*", permission: "allow" },
      ],
    }),
    history({ repository: process.env["HISTORY"] ?? "wiki.git" }), // behind what knows the users
    webSocket(),
  ],
});

/** Who changed what, and to what: a line of JSON for each change. What was there before is in the history. */
async function* auditLines(changes) {
  for await (const { time, user, kind, path, selector, requestId, html } of changes) {
    yield `${JSON.stringify({ time, user, kind, path, selector, requestId, html })}\n`;
  }
}
const audited = pipeline(
  files.changes,
  auditLines,
  createWriteStream(process.env["AUDIT"] ?? "audit.log", { flags: "a" }),
);

const app = express();
app.use(sessions);
app.use("/wiki", files); // before any body parser
const signInPage = fileURLToPath(new URL("sign-in.html", import.meta.url));
app.get("/sign-in", (_request, response) => response.sendFile(signInPage));
app.post("/sign-in", express.urlencoded({ extended: false }), (request, response) => {
  const { name, password } = request.body;
  if (!Object.hasOwn(users, name) || users[name].password !== password) return response.status(403).send("Wrong.");
  request.session.regenerate(() => {
    request.session.user = { name, roles: users[name].roles };
    response.redirect("/wiki/");
  });
});

const server = createServer(app);
// No middleware runs for a handshake: it needs the session, too.
server.on("upgrade", (request, socket, head) => files.upgrade(request, socket, head, { before: sessions }));
await files.ready();
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}/wiki/`);
});

async function stop() {
  server.close();
  await files.close(); // ends the web sockets, and the changes
  await audited;
}
process.once("SIGINT", stop).once("SIGTERM", stop);
