// nginx with one worker and sendfile: node servers/nginx.mjs <root>
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { runExternal } from "./external.mjs";

const [root = "."] = process.argv.slice(2);
const directory = mkdtempSync(join(tmpdir(), "filement-bench-nginx-"));
process.once("exit", () => rmSync(directory, { recursive: true, force: true }));

await runExternal("nginx", (port) => {
  const file = join(directory, "nginx.conf");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((kind) => `${kind}_temp_path ${directory}/${kind};`)
    .join("\n    ");
  writeFileSync(
    file,
    `daemon off;
master_process off;
worker_processes 1;
pid ${directory}/pid;
error_log stderr crit;
events { worker_connections 1024; }
http {
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000000;
    default_type application/octet-stream;
    types { text/plain txt; text/html html; }
    ${temporary}
    server {
        listen 127.0.0.1:${port};
        root ${resolve(root)};
    }
}
`,
  );
  return ["-p", directory, "-c", file];
});
