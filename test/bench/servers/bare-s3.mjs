// The SDK behind node:http, without a single check, and with a replacement of text for an edit of elements:
// node servers/bare-s3.mjs <endpoint> <bucket> <key id> <key>
import { buffer } from "node:stream/consumers";
import { GetObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { listen } from "./listen.mjs";

const [endpoint = "", Bucket = "", accessKeyId = "", secretAccessKey = ""] = process.argv.slice(2);
const credentials = { accessKeyId, secretAccessKey };
const client = new S3Client({ endpoint, region: "us-east-1", forcePathStyle: true, credentials });

listen(async (request, response) => {
  const Key = (request.url ?? "").slice(1);
  const isPart = request.headers.range !== undefined;
  const sent = request.method === "PUT" ? await buffer(request) : undefined;
  const { Body } = sent && !isPart ? {} : await client.send(new GetObjectCommand({ Bucket, Key }));
  const stored = Buffer.from((await Body?.transformToByteArray()) ?? []);
  if (sent) {
    const content = isPart ? Buffer.from(stored.toString().replace(/<title>.*<\/title>/, sent.toString())) : sent;
    await client.send(new PutObjectCommand({ Bucket, Key, Body: content }));
  }
  const title = isPart && Buffer.from(/<title>.*<\/title>/.exec(stored.toString())?.[0] ?? "");
  const body = sent ?? (title || stored);
  response.writeHead(isPart ? 206 : 200, { "content-length": body.byteLength }).end(body);
});
