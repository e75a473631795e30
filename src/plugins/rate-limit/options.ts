import { aFunction, hasMethods, pluginOptions, redisUrl } from "../../options/option-types.ts";
import { anyOf, integer, number, type OptionsSchema, oneOf, text, valueThat, yesOrNo } from "../../options/schema.ts";

/** One request in eleven days, and one in a microsecond; beyond these the clock is too coarse, or counts too far. */
const slowest = 1e-6;
const fastest = 1e6;
const largestBurst = 1e9;
/** The longest that a timer of node can wait; beyond it, the timer would fire at once and always. */
const longestInterval = Math.floor(0x7fff_ffff / 1000);

/** What the options of `rateLimit` are checked against. */
export const rateLimitOptions: OptionsSchema = pluginOptions({
  requestsPerSecond: number(
    `a positive number, ${slowest.toFixed(6)} to ${fastest}`,
    (rate) => rate >= slowest && rate <= fastest,
  ),
  burstCapacity: number(`a number from 1 to ${largestBurst}`, (capacity) => capacity >= 1 && capacity <= largestBurst),
  keyStrategy: anyOf([oneOf(["ip", "user", "host"]), aFunction], '"ip", "user", "host" or a function'),
  cleanupInterval: integer(
    `a whole number of seconds, 1 to ${longestInterval}`,
    (seconds) => seconds >= 1 && seconds <= longestInterval,
  ),
  maxClients: integer("a whole number from 1 to 1000000000", (clients) => clients >= 1 && clients <= 1_000_000_000),
  standardHeaders: yesOrNo,
  // It stands between quotes in a header field.
  name: text("a name of letters, digits and the characters . _ -", (name) => /^[\w.-]{1,64}$/.test(name)),
  store: anyOf(
    [redisUrl, valueThat(hasMethods("take", "giveBack"), "")],
    "a bucket store: an object with take and giveBack, or the URL of a Redis, such as redis://localhost:6379",
  ),
});
