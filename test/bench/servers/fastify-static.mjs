// `@fastify/static` as it comes: node servers/fastify-static.mjs <root>
import { resolve } from "node:path";
import fastifyStatic from "@fastify/static";
import { fastify } from "fastify";

const [root = "."] = process.argv.slice(2);
const app = fastify();
app.register(fastifyStatic, { root: resolve(root) });
await app.listen({ port: 0, host: "127.0.0.1" });
process.send?.(app.server.address());
process.once("disconnect", () => process.exit());
