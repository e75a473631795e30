// Run as a process of its own, with an IPC channel: node busy-loop.mjs <minutes>. Keeps a core busy, ends by itself after
// that time, and before when its parent is gone.
const endsAt = Date.now() + Number(process.argv[2]) * 60_000;
process.on("disconnect", () => process.exit());
process.channel?.ref();

function work() {
  const sliceEnds = Date.now() + 50;
  while (Date.now() < sliceEnds);
  if (Date.now() < endsAt) setImmediate(work);
  else process.exit();
}
work();
