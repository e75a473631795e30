import { randomBytes, scrypt } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { version } from "../server/version.ts";

const derive: (password: string, salt: Buffer, bytes: number) => Promise<Buffer> = promisify(scrypt);
// Readable by the operators of the server only: passwords can be guessed from hashes.
const modeOfUsers = 0o640;

/** Writes what a server in production starts with, over nothing that is there. Gives the lines to tell. */
export async function writeFirstFiles(directory: string): Promise<string[]> {
  const password = randomBytes(15).toString("base64url");
  const files = {
    "users.html": usersPage(await hashOf(password)),
    "config.html": configPage,
    Dockerfile: dockerfile,
    "compose.yaml": composeFile,
    "filement.service": systemdUnit(resolve(directory)),
  };
  await mkdir(join(directory, "site"), { recursive: true });
  const lines: string[] = [];
  for (const [name, content] of Object.entries(files)) {
    const isNew = await writeNew(join(directory, name), content, name === "users.html" ? modeOfUsers : undefined);
    lines.push(isNew ? `wrote ${name}` : `kept ${name}, which was there`);
    if (isNew && name === "users.html")
      lines.push(`the user admin has the password ${password}, which is told only here`);
  }
  return lines;
}

async function writeNew(path: string, content: string, mode?: number): Promise<boolean> {
  try {
    await writeFile(path, content, { flag: "wx", mode });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** By node's own scrypt, whose defaults are these numbers. */
async function hashOf(password: string): Promise<string> {
  const salt = randomBytes(16);
  const [written, hash] = [salt, await derive(password, salt, 32)].map((bytes) => bytes.toString("base64"));
  return `$scrypt$ln=14,r=8,p=1$${written}$${hash}`;
}

const plugin = (library: string, text: string): string =>
  `<li itemprop="plugin" itemscope itemtype="https://example.org/schema/Plugin">
      <code itemprop="library">file://./plugins/${library}.so</code>: ${text}</li>`;

const configPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Configuration of the server</title>
<body itemscope itemtype="https://example.org/schema/ServerConfig">
  <h1>Configuration of the server</h1>
  <p>It listens on port <b itemprop="bindPort">3000</b>, for a proxy on this computer
    (<b itemprop="trustProxy">loopback</b>) that has TLS. Put the name of the site here:
    <b itemprop="allowedHosts">localhost</b>.</p>
  <section itemprop="host" itemscope itemtype="https://example.org/schema/HostConfig">
    <h2>The site</h2>
    <p>Under any of these names (<b itemprop="hostname">*</b>) it serves <code itemprop="hostRoot">file://./site</code>,
      through these plugins, from top to bottom:</p>
    <ol>
      ${plugin("access-log", 'a line for each request on <code itemprop="file">file:///dev/stdout</code>.')}
      ${plugin("health-check", 'tells at <code itemprop="path">/health</code> whether the server is well.')}
      ${plugin("rate-limit", '<b itemprop="requests_per_second">50</b> requests a second of an address, <b itemprop="burst_capacity">200</b> at once.')}
      ${plugin("basic-auth", 'users and their rights are in <a itemprop="authfile" href="users.html">users.html</a>.')}
    </ol>
  </section>
</body>
</html>
`;

const usersPage = (hash: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Users of the server</title>
<h1>Users of the server</h1>
<p itemscope itemtype="https://example.org/schema/Credential">
  <b itemprop="username">admin</b>: <code itemprop="password">${hash}</code></p>
<h2>Rules</h2>
<p itemscope itemtype="https://example.org/schema/AuthorizationRule">
  Everybody (<b itemprop="username">*</b>) may <data itemprop="right" value="read list">read and list</data>
  <code itemprop="path">/*</code>.</p>
<p itemscope itemtype="https://example.org/schema/AuthorizationRule">
  <b itemprop="username">admin</b> may do anything to <code itemprop="path">/*</code>.</p>
</html>
`;

const probe = "fetch('http://127.0.0.1:3000/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))";

const dockerfile = `FROM node:lts-slim
RUN npm install --global filement@${version}
USER node
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s CMD ["node", "-e", "${probe}"]
ENTRYPOINT ["filement"]
CMD ["/etc/filement/config.html", "--host", "0.0.0.0", "--log-format", "json"]
`;

const composeFile = `services:
  filement:
    build: .
    init: true
    restart: unless-stopped
    stop_grace_period: 20s
    read_only: true
    cap_drop: [ALL]
    security_opt: ["no-new-privileges:true"]
    ports: ["127.0.0.1:3000:3000"]
    volumes:
      - ./config.html:/etc/filement/config.html:ro
      - ./users.html:/etc/filement/users.html:ro
      - ./site:/etc/filement/site
`;

/** systemd replaces what follows a percent sign. By `env`, as npm installs in one place or another. */
const systemdUnit = (directory: string): string => {
  const [place, site] = [directory, JSON.stringify(join(directory, "site"))].map((path) => path.replaceAll("%", "%%"));
  return `[Unit]
Description=Filement, an HTTP file server
After=network.target

[Service]
Type=exec
User=filement
WorkingDirectory=${place}
ExecStart=/usr/bin/env filement config.html --log-format json
ExecReload=/usr/bin/env filement --check config.html
ExecReload=/bin/kill -HUP $MAINPID
Restart=on-failure
TimeoutStopSec=20
UMask=0027
LimitNOFILE=65536

# The files that it serves, and its logs; all else is read-only or not there.
ReadWritePaths=${site}
LogsDirectory=filement
ProtectSystem=strict
ProtectHome=read-only
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
CapabilityBoundingSet=
NoNewPrivileges=yes
LockPersonality=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service

[Install]
WantedBy=multi-user.target
`;
};
