// An Express application whose sessions decide who may edit the wiki, also over web sockets.
// Run: npm run build && node examples/sign-ins/express-session.mjs, then sign in as ada with the password "love".
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import express from "express";
import session from "express-session";
import { accessLog, createFileServer, permissions, webSocket } from "filement";

const users = { ada: { password: "love", roles: ["editor"] }, bob: { password: "tea", roles: [] } };
const app = express();
const sessions = session({ secret: process.env["SECRET"] ?? "a secret", resave: false, saveUninitialized: false });
app.use(sessions);

const rules = [
  { username: ":signed-in", path: "/*", methods: ["GET"], permission: "allow" },
  { role: "editor", path: "/*", permission: "allow" },
];
const user = ({ request }) => request.session?.user;
const files = createFileServer({
  root: process.env["ROOT"] ?? fileURLToPath(new URL("../site", import.meta.url)),
  mount: "/wiki",
  plugins: [
    accessLog({ format: "json", stream: process.stdout }),
    permissions({ user, rules, signInPage: "/sign-in" }),
    webSocket(),
  ],
});
app.use("/wiki", files);

app.get("/sign-in", (_request, response) => {
  response.send(`<form method="post">
<label>Name <input name="name"></label> <label>Password <input name="password" type="password"></label>
<button>Sign in</button>`);
});
app.post("/sign-in", express.urlencoded({ extended: false }), (request, response) => {
  const { name, password } = request.body;
  if (!Object.hasOwn(users, name) || users[name].password !== password) return response.status(403).send("Wrong.");
  request.session.regenerate(() => {
    request.session.user = { name, roles: users[name].roles };
    response.redirect("/wiki/");
  });
});

app.post("/sign-out", (request, response) => {
  const { sessionID } = request;
  request.session.destroy(() => {
    files.disconnect(({ exchange }) => exchange.request.sessionID === sessionID); // web sockets of that browser
    response.redirect("/sign-in");
  });
});

const server = createServer(app);
// No middleware of Express runs for a handshake: it needs the session, too.
server.on("upgrade", (request, socket, head) => files.upgrade(request, socket, head, { before: sessions }));
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}/wiki/`);
});
