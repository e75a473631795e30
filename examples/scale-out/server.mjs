// One of several servers, the same on each machine: files in a bucket, limits and changes in a Redis.
import { createServer } from "node:http";
import { createFileServer, eventStream, healthCheck, rateLimit, webSocket } from "filement";
import { s3Storage } from "filement/s3";

const { PORT = "3001", REDIS = "redis://127.0.0.1:6379", S3 = "http://127.0.0.1:7070" } = process.env;

const files = createFileServer({
  // Its keys are AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.
  storage: s3Storage({ bucket: "site", endpoint: S3, credentials: "environment" }),
  feed: REDIS,
  plugins: [healthCheck(), rateLimit({ requestsPerSecond: 50, store: REDIS }), webSocket(), eventStream()],
  client: true,
  trustProxy: "loopback", // where nginx is
  serverHeader: `filement-${PORT}`,
  onError: (error) => console.error(error),
});

await files.ready();
const server = createServer();
files.attach(server);
server.listen(Number(PORT), "127.0.0.1", () => console.log(`server at ${PORT}`));

process.once("SIGTERM", async () => {
  await files.close();
  server.close();
});
