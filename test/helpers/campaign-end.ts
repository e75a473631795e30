import { beforeEach } from "vitest";
import { campaignMsLeft } from "./effort.ts";

// When a campaign's time is spent, tests that are under way go on to their end, and no other begins.
beforeEach(({ skip }) => skip(campaignMsLeft() === 0, "the campaign's time is spent"));
