const groupBits = 16;
const groupsOfAddress = 8;

/**
 * The network that an address counts for: an IPv4 address for itself, an IPv6 address for its first `prefix` bits. One
 * household has 2^64 addresses of its own, so a limit for each address would be no limit at all.
 */
export function networkOf(address: string, prefix: number): string {
  if (!address.includes(":")) return address;
  const [start = "", end] = address.split("::", 2);
  const before = groupsOf(start);
  const after = end === undefined ? [] : groupsOf(end);
  const zeros = new Array<number>(Math.max(0, groupsOfAddress - before.length - after.length)).fill(0);

  const kept = Math.ceil(prefix / groupBits);
  const network = [...before, ...zeros, ...after].slice(0, kept);
  const spareBits = kept * groupBits - prefix;
  network[kept - 1] = ((network[kept - 1] ?? 0) >> spareBits) << spareBits;
  const groups = network.map((group) => group.toString(16)).join(":");
  return `${groups}${kept < groupsOfAddress ? "::" : ""}/${prefix}`;
}

function groupsOf(part: string): number[] {
  return part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
}
