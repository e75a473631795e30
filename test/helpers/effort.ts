/**
 * How much the tests look at. `npm test` takes a fixed sample and fixed seeds, the same for everybody, so that a change is
 * not blamed for what another run would have found. `npm run campaign` takes everything, with new seeds each round.
 */
export const isCampaign: boolean = process.env["FILEMENT_CAMPAIGN"] === "1";

/** When the time of a campaign is spent, in milliseconds since 1970: what goes on for long ends then. */
const campaignEndsAt = Number(process.env["FILEMENT_CAMPAIGN_ENDS_AT"] ?? Number.POSITIVE_INFINITY);

/** Whether tests of elements take an S3 bucket in place of the memory; a campaign runs them both ways. */
export const usesBucket: boolean = process.env["FILEMENT_STORAGE"] === "s3";

/** Shifts the seeds of all random tests; 0 leaves each its own. A campaign prints the one that found something. */
export const suiteSeed = Number(process.env["FILEMENT_SEED"] ?? 0);

/** The seed of a random test in this run, from the one it has in `npm test`. */
export function seedOf(own: number): number {
  return (own + Math.imul(suiteSeed, 0x9e3779b1)) | 0;
}

/** How often a random test tries, from how often it does in `npm test`. */
export function timesOf(usual: number, inCampaign: number = 4 * usual): number {
  return isCampaign ? inCampaign : usual;
}

/** How a random test tries a property in `npm test`. */
interface Checks {
  readonly seed: number;
  readonly numRuns: number;
  /** @default four times `numRuns` */
  readonly inCampaign?: number;
}

/** How fast-check tries a property in this run: `fc.assert(property, checks({ seed: 11, numRuns: 500 }))`. */
export function checks({ seed, numRuns, inCampaign }: Checks): { seed: number; numRuns: number } {
  return { seed: seedOf(seed), numRuns: timesOf(numRuns, inCampaign) };
}

/** Random edits that a round of a campaign compares with full parses. */
export const editsInCampaign = Number(process.env["FILEMENT_EDITS"] ?? 100_000);

/** What is left of a campaign's time, in milliseconds; `Infinity` where nothing limits it. */
export function campaignMsLeft(): number {
  return Math.max(0, campaignEndsAt - Date.now());
}

/** What one test takes of a campaign's time at most, so that others have their turn; all of it if asked for. */
const shareOfOneTest = Number(process.env["FILEMENT_CAMPAIGN_SHARE"] ?? 1);

/** The time of a test that could go on for ever, in milliseconds; `Infinity` where nothing limits it. */
export function msForOneTest(): number {
  return campaignMsLeft() * shareOfOneTest;
}

/**
 * Says for a test that takes minutes in a campaign whether it tries one more case: the first `usual` always, others until
 * its time is spent. So no case is cut short, and what a test says about all of its cases never rests on a handful.
 */
export function timeForMore(usual: number): (done: number) => boolean {
  const endsAt = Date.now() + msForOneTest();
  return (done) => done < usual || Date.now() < endsAt;
}

/** One of `share` in `npm test`, spread over all of them; everything in the campaign. */
export function sample<Item>(items: readonly Item[], share: number): Item[] {
  return isCampaign ? [...items] : items.filter((_, index) => index % share === Math.floor(share / 2));
}

/** Numbers that look random and are the same for the same seed (mulberry32). */
export function seededRandom(own: number): () => number {
  let state = seedOf(own);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
