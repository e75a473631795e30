import { Buffer } from "node:buffer";

const encoded = (text: string | Uint8Array): string => Buffer.from(text).toString("base64");
const right = encoded("ada:engine");

/** Values of `Authorization` that hold no name and password, each a mistake that clients or attackers make. */
export const malformedFields: readonly string[] = [
  " ",
  "Basic",
  "Basic ",
  "Basic =",
  "Basic YQ==", // "a", without a colon
  `Basic ${encoded("ada")}`,
  `Basic ${encoded("")}`,
  `Basic${right}`,
  `Basic\t${right}`,
  `Basic "${right}"`,
  `Basic ${right} ${right}`,
  `Basic ${right},${right}`,
  `Basic ${right}, Basic ${right}`,
  `Basic ${right.slice(0, 4)} ${right.slice(4)}`,
  `Basic ${right.slice(0, 4)}=${right.slice(4)}`,
  `Basic realm="x", ${right}`,
  "Basic ada:engine",
  right,
  "ada:engine",
  `XBasic ${right}`,
  `Bearer ${right}`,
  `Digest username="ada", realm="filement"`,
  "Negotiate YIIJvwYGKwYBBQUCoIIJszCCCa",
  `Basic ${encoded("ada\0:engine")}`,
  `Basic ${encoded("ada:eng\0ine")}`,
  `Basic ${encoded("ada:engine\n")}`,
  `Basic ${encoded("ada\r\nSet-Cookie:x")}`,
  `Basic ${encoded("ada:\u0085")}`,
  `Basic ${encoded("ada:\u001b[31m")}`,
  `Basic ${encoded(Buffer.from("J\xf6rg:engine", "latin1"))}`,
  `Basic ${encoded(Buffer.from([0x61, 0x3a, 0xff, 0xfe]))}`,
  `Basic ${encoded(Buffer.from([0x61, 0x3a, 0xc0, 0x80]))}`,
  "Basic Zm9vOmJhcg\u00e9",
];
