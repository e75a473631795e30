// Filement over a bucket: node servers/filement-s3.mjs <endpoint> <bucket> <key id> <key>
import { createFileServer } from "filement";
import { s3Storage } from "filement/s3";
import { listen } from "./listen.mjs";

const [endpoint = "", bucket = "", accessKeyId = "", secretAccessKey = ""] = process.argv.slice(2);
const files = createFileServer({
  storage: s3Storage({ endpoint, bucket, credentials: { accessKeyId, secretAccessKey } }),
});
await files.ready();
listen(files);
