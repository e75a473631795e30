// Files under /docs of an Express 5 application; what they do not have, the application's own routes answer.
// Run: npm run build && node examples/express.mjs
import { fileURLToPath } from "node:url";
import express from "express";
import { createFileServer } from "filement";

const root = process.env["ROOT"] ?? fileURLToPath(new URL("site", import.meta.url));
const app = express();

// Before any body parser. With `fallthrough` it takes GET and HEAD, unless `methods` names more.
app.use("/docs", createFileServer({ root, fallthrough: true, methods: ["GET", "PUT", "POST", "DELETE"] }));
app.get("/docs/about", (_request, response) => {
  response.send("Answered by Express: there is no such file.");
});
app.use(express.json());
app.post("/api/echo", (request, response) => {
  response.json(request.body);
});

const server = app.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  const address = server.address();
  console.log(`listening on http://127.0.0.1:${typeof address === "object" ? address?.port : address}/docs/`);
});
