// An upload from an HTML form: busboy reads multipart/form-data, and each file is written whole or not at all.
// Run: npm install busboy && node examples/uploads/form.mjs, then open http://127.0.0.1:3000/
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import busboy from "busboy";
import { createFileServer, HttpError, memoryStorage } from "filement";

const form = `<!doctype html><title>Upload</title>
<form method="post" action="/upload" enctype="multipart/form-data"><input type="file" name="file" multiple><button>Send</button></form>
<progress value="0" max="1"></progress><pre></pre>
<script>
document.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const request = new XMLHttpRequest(); // fetch does not tell how much is sent
  request.upload.onprogress = ({ loaded, total }) => (document.querySelector("progress").value = loaded / total);
  request.onload = () => (document.querySelector("pre").textContent = request.responseText);
  request.open("POST", "/upload");
  request.send(new FormData(event.target));
});
</script>`;
const files = createFileServer({ storage: memoryStorage({ "/index.html": form }), readOnly: true }); // the form writes

/** Stores the files of a form below /uploads; what the parser gives is an untrusted name and a stream. */
async function store(request) {
  const stored = [];
  const parser = busboy({
    headers: request.headers,
    defParamCharset: "utf8",
    limits: { files: 10, fileSize: 1_000_000 },
  }); // ask here who may upload
  parser.on("file", (_field, content, { filename }) => {
    const path = `/uploads/${filename.replace(/^\.+|[^\w.-]/g, "_")}`;
    const written = buffer(content).then((bytes) => {
      if (content.truncated) throw new HttpError(413, "FILE_TOO_LARGE", "A file may have 1 MB.");
      return files.write(path, bytes); // past all plugins: your program decides
    });
    stored.push(written.then(({ etag }) => ({ path, etag })));
  });
  await new Promise((resolve, reject) => request.pipe(parser).on("close", resolve).on("error", reject));
  return Promise.all(stored);
}

const server = createServer(async (request, response) => {
  if (request.method !== "POST" || request.url !== "/upload") return files(request, response);
  const [status, result] = await store(request).then(
    (each) => [201, each],
    (error) => [error instanceof HttpError ? error.status : 400, error.message],
  );
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(result));
});
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
