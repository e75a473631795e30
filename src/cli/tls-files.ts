import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { messageOf } from "../server/logger.ts";

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

export type TlsContents = Readonly<Record<keyof TlsFiles, Buffer>>;

/** Reads a certificate chain and its key. Rejects with a sentence for people where a server could not use them. */
export async function readTlsFiles(files: TlsFiles): Promise<TlsContents> {
  const cert = await read("--cert", files.cert);
  const key = await read("--key", files.key);
  const isEncrypted = /^-----BEGIN ENCRYPTED |^Proc-Type: 4,ENCRYPTED/m.test(key.toString("latin1"));
  const keyProblem = isEncrypted ? "is encrypted: expected one without a passphrase" : "holds no private key in PEM";
  // Of a chain it reads the first, which is the server's own.
  const first = attempt(() => new X509Certificate(cert), `--cert ${files.cert} holds no certificate in PEM`);
  const privateKey = attempt(() => createPrivateKey(key), `--key ${files.key} ${keyProblem}`);
  // OpenSSL takes a certificate with a key of another kind (EC and RSA), and then fails at every handshake.
  if (!first.checkPrivateKey(privateKey)) throw new Error(`--key ${files.key} is not the key of --cert ${files.cert}`);
  attempt(() => createSecureContext({ cert, key }), `TLS cannot use --cert ${files.cert} and --key ${files.key}`);
  return { cert, key };
}

async function read(option: string, file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    throw new Error(`${option} cannot be read: ${messageOf(cause)}`, { cause }); // it names the file
  }
}

function attempt<T>(use: () => T, problem: string): T {
  try {
    return use();
  } catch (cause) {
    throw new Error(problem, { cause });
  }
}
