import { z } from "zod";
import { aFunction, hasMethods, pluginOptions, yesOrNo } from "../../options/option-types.ts";

/** One request in eleven days, and one in a microsecond; beyond these the clock is too coarse, or counts too far. */
const slowest = 1e-6;
const fastest = 1e6;
const largestBurst = 1e9;
/** The longest that a timer of node can wait; beyond it, the timer would fire at once and always. */
const longestInterval = Math.floor(0x7fff_ffff / 1000);

const rate = `a positive number, ${slowest.toFixed(6)} to ${fastest}`;
const capacity = `a number from 1 to ${largestBurst}`;
const interval = `a whole number of seconds, 1 to ${longestInterval}`;
const clients = "a whole number from 1 to 1000000000";
const prefix = "a whole number from 1 to 128";
const strategy = '"ip", "user", "host" or a function';
const name = "a name of letters, digits and the characters . _ -";

/** What the options of `rateLimit` are checked against. */
export const rateLimitOptions: z.ZodType = pluginOptions({
  requestsPerSecond: z.number(rate).min(slowest, rate).max(fastest, rate),
  burstCapacity: z.number(capacity).min(1, capacity).max(largestBurst, capacity),
  keyStrategy: z.union([z.enum(["ip", "user", "host"]), aFunction], strategy),
  cleanupInterval: z.int(interval).min(1, interval).max(longestInterval, interval),
  maxClients: z.int(clients).min(1, clients).max(1_000_000_000, clients),
  ipv6Prefix: z.int(prefix).min(1, prefix).max(128, prefix),
  standardHeaders: yesOrNo,
  // It stands between quotes in a header field.
  name: z.string(name).regex(/^[\w.-]{1,64}$/, name),
  store: z.custom(hasMethods("take", "giveBack"), "a bucket store: an object with take and giveBack"),
});
