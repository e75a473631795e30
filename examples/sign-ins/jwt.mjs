// Programs send a token (RFC 6750), whose claims say who they are; a limit counts by that name.
// Run: npm run build && node examples/sign-ins/jwt.mjs
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { createFileServer, permissions, rateLimit } from "filement";
import { jwtVerify } from "jose";

const secret = new TextEncoder().encode(process.env["SECRET"] ?? "a secret of at least thirty-two bytes");

async function user({ headers }) {
  const [, token] = /^Bearer (.+)$/i.exec(headers.authorization ?? "") ?? [];
  if (token === undefined) return undefined;
  const verified = await jwtVerify(token, secret, { algorithms: ["HS256"] }).catch(() => undefined);
  return verified && { name: verified.payload.sub, roles: verified.payload.roles };
}

const files = createFileServer({
  root: process.env["ROOT"] ?? fileURLToPath(new URL("../site", import.meta.url)),
  plugins: [
    permissions({
      user,
      challenge: 'Bearer realm="files"',
      rules: [
        { username: ":signed-in", path: "/*", methods: ["GET"], permission: "allow" },
        { role: "robot", path: "/data/*", methods: ["PUT", "DELETE"], permission: "allow" },
      ],
    }),
    rateLimit({ keyStrategy: "user", requestsPerSecond: 1, burstCapacity: 5 }),
  ],
});
const server = createServer(files).listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}/`);
});
