import { execFile } from "node:child_process";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TlsFiles } from "../../src/cli/tls-files.ts";

const run = promisify(execFile);

/** Makes a certificate for 127.0.0.1 that vouches for itself, and its key, in a directory; needs `openssl`. */
export async function makeCertificate(directory: string, name: string): Promise<TlsFiles> {
  const files = { cert: join(directory, `${name}.crt`), key: join(directory, `${name}.key`) };
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", files.key];
  const subject = ["-subj", `/CN=${name}`, "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"];
  await run("openssl", ["req", "-x509", ...key, "-out", files.cert, "-days", "2", ...subject]);
  return files;
}

/** Puts a key under a passphrase. */
export async function encryptKey(key: string): Promise<void> {
  await run("openssl", ["pkey", "-in", key, "-aes128", "-passout", "pass:secret", "-out", `${key}.new`]);
  await rename(`${key}.new`, key);
}
