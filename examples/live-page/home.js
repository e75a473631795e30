// The home page: it is live, its curl lines can be run from it, and it has a playground.
import { addButtons } from "./curl-lines.js";
import { goLive } from "./live-page.js";
import { openPlayground } from "./playground.js";

goLive(addButtons);
openPlayground();
