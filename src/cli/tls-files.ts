import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { messageOf } from "../server/logger.ts";

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

export interface TlsContents {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Reads a certificate chain and its key. Rejects with a sentence for people where a server could not use them. */
export async function readTlsFiles(files: TlsFiles): Promise<TlsContents> {
  const cert = await read("--cert", files.cert);
  const key = await read("--key", files.key);
  // OpenSSL takes a certificate with a key of another kind (EC and RSA), and then fails at every handshake.
  if (!certificateIn(files.cert, cert).checkPrivateKey(privateKeyIn(files.key, key))) {
    throw new Error(`--key ${files.key} is not the key of --cert ${files.cert}`);
  }
  try {
    createSecureContext({ cert, key });
  } catch (cause) {
    throw new Error(`--cert ${files.cert} and --key ${files.key} cannot be used: ${messageOf(cause)}`, { cause });
  }
  return { cert, key };
}

async function read(option: string, file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    throw new Error(`${option} cannot be read: ${messageOf(cause)}`, { cause }); // it names the file
  }
}

/** The first one of the chain, which is the server's own. */
function certificateIn(file: string, pem: Buffer): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw new Error(`--cert ${file} holds no certificate in PEM`, { cause });
  }
}

function privateKeyIn(file: string, pem: Buffer): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    const isEncrypted = /^-----BEGIN ENCRYPTED |^Proc-Type: 4,ENCRYPTED/m.test(pem.toString("latin1"));
    const problem = isEncrypted ? "is encrypted: expected one without a passphrase" : "holds no private key in PEM";
    throw new Error(`--key ${file} ${problem}`, { cause });
  }
}
