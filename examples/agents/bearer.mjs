// Agents sign in with a token (RFC 6750) of an authorization server, which the metadata of this one names (RFC 9728).
// Run: npm run build && npm install @modelcontextprotocol/server && node examples/agents/bearer.mjs
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { createFileServer, permissions } from "filement";
import { mcp } from "filement/mcp";
import { jwtVerify } from "jose";

// With a real authorization server: createRemoteJWKSet(new URL(issuer + "/jwks")), and RS256 or ES256.
const key = new TextEncoder().encode(process.env["SECRET"] ?? "a secret of at least thirty-two bytes");
const issuer = process.env["ISSUER"] ?? "https://login.example";
const metadata = "/.well-known/oauth-protected-resource/mcp";

const server = createServer();
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : address}`;
  const audience = `${origin}/mcp`; // a token for another server is not taken

  /** @param {import("filement").Exchange} exchange */
  async function user({ headers }) {
    const [, token] = /^Bearer (.+)$/i.exec(headers.authorization ?? "") ?? [];
    if (token === undefined) return undefined;
    const verified = await jwtVerify(token, key, { algorithms: ["HS256"], issuer, audience }).catch(() => undefined);
    const name = verified?.payload.sub;
    return name === undefined ? undefined : { name };
  }

  const files = createFileServer({
    root: process.env["ROOT"] ?? fileURLToPath(new URL("site", import.meta.url)),
    plugins: [
      permissions({
        user,
        challenge: `Bearer resource_metadata="${origin}${metadata}"`,
        rules: [
          { username: ":signed-in", path: "/*", methods: ["GET"], permission: "allow" },
          { username: ":signed-in", path: "/mcp", methods: ["POST"], permission: "allow" },
          { username: ":signed-in", path: "/*", selector: ".editable", permission: "allow" },
        ],
      }),
      mcp(),
    ],
  });
  const described = JSON.stringify({ resource: audience, authorization_servers: [issuer] });
  server.on("request", (request, response) => {
    if (request.url === metadata) response.setHeader("content-type", "application/json").end(described);
    else files(request, response);
  });
  console.log(`listening on ${origin}`);
});
