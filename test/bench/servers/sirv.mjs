// `sirv` as it comes, which looks at the directory once, when it starts: node servers/sirv.mjs <root>
import sirv from "sirv";
import { listen } from "./listen.mjs";

const [root = "."] = process.argv.slice(2);
listen(sirv(root, { etag: true }));
