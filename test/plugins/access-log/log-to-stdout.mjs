// Says why its standard output cannot be opened a second time, and logs a request to it. Argument: perhaps the id of the
// user that it becomes before.
import { open } from "node:fs/promises";
import { accessLog, createFileServer, memoryStorage } from "../../../dist/index.js";

const [user] = process.argv.slice(2);
if (user !== undefined) process.setuid?.(Number(user));
console.log(await open("/dev/stdout", "a").catch(({ code }) => code));
const files = createFileServer({ storage: memoryStorage(), plugins: [accessLog({ file: "/dev/stdout" })] });
await files.fetch(new Request("http://localhost/logged"));
await files.close();
