import { createClient } from "@redis/client";
import { describe, expect, it, onTestFinished } from "vitest";
import { RedisConnection, RedisError } from "../../src/redis/connection.ts";
import { cableTo } from "../helpers/cable.ts";
import { redisServer } from "./redis-server.ts";

function connectionTo(source: Parameters<typeof RedisConnection.to>[0]): RedisConnection {
  const connection = RedisConnection.to(source).hold();
  onTestFinished(() => connection.release());
  return connection;
}

async function failureOf(asked: Promise<unknown>): Promise<RedisError> {
  const failure = await asked.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(RedisError);
  return failure as RedisError;
}

describe("a connection to Redis", { tags: ["redis-server"] }, () => {
  it("takes the options of a client, which itself is left alone", async () => {
    const { url } = await redisServer();
    const client = createClient({ url, database: 3 });
    const connection = connectionTo(client);
    await connection.run(["SET", "a", "1"]);
    expect(await connection.run(["CLIENT", "LIST"])).toMatch(/ db=3 /);
    expect(client.isOpen).toBe(false);
  });

  it("ends with the last who uses it", async () => {
    const redis = await redisServer();
    const [one, other] = [RedisConnection.to(redis.url).hold(), RedisConnection.to(redis.url).hold()];
    await one.run(["PING"]);
    one.release();
    expect(await other.run(["PING"])).toBe("PONG");
    other.release();
    await expect.poll(() => redis.ask("CLIENT", "LIST")).not.toMatch(/cmd=ping/);
    await failureOf(other.run(["PING"])); // who has released it has no business with it
  });

  it("names the Redis in its errors, and not the password", async () => {
    const { port, kill } = await redisServer();
    await kill();
    const failure = await failureOf(connectionTo(`redis://me:secret@127.0.0.1:${port}/2`).run(["PING"]));
    expect(failure.message).toMatch(`redis://127.0.0.1:${port}/2 cannot be asked: `);
    expect(failure.message).not.toMatch(/secret/);
  });

  it("is made again when it breaks; until then commands fail at once", async () => {
    const redis = await redisServer();
    const connection = connectionTo(redis.url);
    await connection.run(["PING"]);
    await redis.kill();
    await failureOf(connection.run(["PING"]));
    await failureOf(connection.run(["PING"]));
    await redis.start();
    await expect.poll(() => connection.run(["PING"]).catch(() => "away")).toBe("PONG");
  });

  it("follows a failover that leaves the old Redis there, as a replica that refuses to write", async () => {
    const [old, other] = [await redisServer(), await redisServer()];
    const cable = await cableTo(old.url);
    const connection = connectionTo(cable.url);
    const write = `return redis.call("SET", KEYS[1], ARGV[1])`;
    expect(await connection.runScript(write, ["a"], ["1"])).toBe("OK");
    await old.ask("REPLICAOF", "127.0.0.1", `${other.port}`);
    cable.plugIn(other.port);
    expect((await failureOf(connection.runScript(write, ["a"], ["2"]))).message).toContain("READONLY");
    expect(await connection.runScript(write, ["a"], ["3"])).toBe("OK");
    expect(await other.ask("GET", "a")).toContain("3");
  });
});
