// Filement with plugins: node servers/filement-plugins.mjs <root> <log> [plugin...]
import { accessLog, basicAuth, createFileServer, metrics, rateLimit } from "filement";
import { listen } from "./listen.mjs";

const [root = ".", log = "", ...names] = process.argv.slice(2);

/** @type {Readonly<Record<string, () => import("filement").Plugin>>} */
const plugins = {
  rateLimit: () => rateLimit({ requestsPerSecond: 1e6 }),
  accessLog: () => accessLog({ file: log }),
  metrics: () => metrics(),
  basicAuth: () => basicAuth({ users: [{ username: "ada", password: bcryptOfSecret }] }),
};

/** `secret`, at a cost that takes a good part of a second. */
const bcryptOfSecret = "$2b$12$wXTRB8EcCD9cJELe7S24PugaiUk1mhMuFBczUXCGAu2wSLS6.Anf6";

listen(
  createFileServer({
    root,
    plugins: names.map((name) => {
      const make = plugins[name];
      if (!make) throw new Error(`no plugin ${name}`);
      return make();
    }),
  }),
);
