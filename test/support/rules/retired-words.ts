/**
 * Words that had two meanings or the wrong one, and what to say instead.
 *
 * The glossary of ARCHITECTURE.md is the contract: one word, one meaning. A renamed word gets a row here, so that
 * it does not come back. Each row has an example that it must find; test/planted.test.ts proves that it does.
 */
import type { Source } from "../sources.ts"

export interface RetiredWord {
  readonly retired: RegExp
  readonly instead: string
  readonly example: string
}

export const RETIRED_WORDS: readonly RetiredWord[] = [
  {
    retired: /\b(?:createWorker|WorkerParts|wakeWorkers|engine\.workers)\b/,
    instead: "createPoolLoop, PoolLoopParts, wakePools, engine.poolLoops: a worker is a process with a lease",
    example: "for (const worker of engine.workers) await worker.tick(signal)",
  },
  {
    retired: /\bworker of (?:the|its|a|that|this|each|every|one) pools?\b/i,
    instead: "the loop of the pool: a worker is a process, and it serves many pools",
    example: "The wake-up rings the worker of the pool.",
  },
  {
    retired: /\blane: "(?:work|vital|handler)"/,
    instead: 'connection: "vital": a lane is one priority of a pool',
    example: 'await database.run(renew, { lease }, { lane: "vital" })',
  },
  {
    retired: /`?\b(?:vital|handler)`? lanes?\b|\blanes? (?:of|for) connections\b|\bconnection lanes?\b/i,
    instead: "the vital connections, or a class of connections: a lane is one priority of a pool",
    example: "Heartbeats go over the `vital` lane.",
  },
  {
    retired: /\bthe (?:named )?lane (?:that )?(?:a|the|its|this) job\b/i,
    instead: "the pool that the job runs in: a lane is one priority of a pool",
    example: "The lane the job runs in.",
  },
  {
    retired: /\b(?:ctx|context)\.fence\b|\bfence (?:number|counter|token)s?\b/i,
    instead: "ctx.fencingToken: the fence is the pair (lease, claim)",
    example: "The remote system compares ctx.fence with the one that it has seen.",
  },
  {
    retired: /\b(?:publishLowWater|isPublishDue|publishes? (?:the|its) low[- ]water)\b|low-water\/publish\b/i,
    instead: "recordLowWater, isLowWaterDue: a claimer records its low-water mark",
    example: "if (claimer.isPublishDue()) await claimer.publishLowWater()",
  },
  {
    retired: /\bpublish\(host\b/,
    instead: "createFacade: the public face of an application is created",
    example: "return publish(host, application)",
  },
  {
    retired: /\b(?:createBeside|Beside)\b(?= [={<]|\()/,
    instead: "createBackgroundTask, BackgroundTask",
    example: "const sweeps = createBeside(bell.ring)",
  },
  {
    retired: /\bwordOf\(|\btype Word\b(?!s)|\binterface Word\b/,
    instead: "wakeUpOf, WakeUp: what is sent behind a statement is a wake-up",
    example: "return wordOf(notify, { channel, payload })",
  },
  {
    retired: /\bdst\??\.overlap\b|\bdst: \{[^}]*\boverlap\b|\boverlap: "(?:auto|first|both)"/,
    instead: "dst: { gap, fold }: overlap is the policy of a schedule",
    example: 'createSchedule({ cron, timeZone, dst: { gap: "skip", overlap: "both" } })',
  },
  {
    retired: /\boverlap: "(?:queue|replace|collapse|skip)", key:/,
    instead: "overlapKey: a key is what an enqueue gives a run",
    example: 'create({ overlap: "queue", key: "k" })',
  },
  {
    retired: /\b(?:createHurriedHost|createPassing|noteMoves)\b/,
    instead: "createFastForwardHost, createClockAdvance, recordClockMoves",
    example: "const host = createHurriedHost()",
  },
]

export function retiredWords(sources: readonly Source[], words = RETIRED_WORDS): string[] {
  return sources.flatMap(({ path, text }) =>
    words.flatMap(({ retired, instead }) => {
      const found = retired.exec(text)
      if (!found) return []
      const line = text.slice(0, found.index).split("\n").length
      return [`${path}:${line} says "${found[0]}". Say ${instead}.`]
    }),
  )
}
