/** The same with the append-only file flushed before each answer: as durable as a commit in PostgreSQL. */
import { contender as everySecond } from "./bullmq-redis.mjs"

export const contender = { ...everySecond, title: "BullMQ on Redis, fsync always", on: "redis-always" }
