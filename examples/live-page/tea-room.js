// A page that only shows what is done to it.
import { goLive } from "./live-page.js";

goLive();
