// Node's file system as programs have it under Yarn's Plug'n'Play: `node --import fs-of-yarn.mjs program.mjs`.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { NodeFS, PosixFS, patchFs } from "@yarnpkg/fslib";

// Of a copy: what is patched would ask itself.
patchFs(fs, new PosixFS(new NodeFS({ ...fs })));
syncBuiltinESMExports();
Object.assign(process.versions, { pnp: "3" });
