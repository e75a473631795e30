// Fastify's sessions decide; what the file server has to know goes onto the raw request.
// Run: npm run build && node examples/sign-ins/fastify-session.mjs
import { fileURLToPath } from "node:url";
import cookie from "@fastify/cookie";
import session from "@fastify/session";
import { fastify } from "fastify";
import { createFileServer, permissions } from "filement";

const passwords = { ada: "love", bob: "tea" };
const app = fastify();
await app.register(cookie);
const secret = process.env["SECRET"] ?? "a secret of at least thirty-two bytes";
await app.register(session, { secret, saveUninitialized: false, cookie: { secure: false } });

app.post("/sign-in", async (request, reply) => {
  const { name, password } = request.body;
  if (!Object.hasOwn(passwords, name) || passwords[name] !== password) return reply.code(403).send("Wrong.");
  await request.session.regenerate();
  request.session.set("user", { name });
  return reply.code(204).send();
});

const files = createFileServer({
  root: process.env["ROOT"] ?? fileURLToPath(new URL("../site", import.meta.url)),
  mount: "/wiki",
  plugins: [permissions({ user: ({ request }) => request.session?.get("user") })], // without rules, users may do all
});
app.register(async (scope) => {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", (_request, _content, done) => done(null)); // the file server reads it
  scope.all("/wiki/*", (request, reply) => {
    reply.hijack();
    files(Object.assign(request.raw, { session: request.session }), reply.raw);
  });
});

await app.listen({ port: Number(process.env["PORT"] ?? 3000), host: "127.0.0.1" });
console.log(`listening on http://127.0.0.1:${app.server.address().port}/wiki/`);
