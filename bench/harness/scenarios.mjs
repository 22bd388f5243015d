/**
 * The scenarios of the public harness, under its names, as phases. Its own take hours where bloat is the subject; here
 * each phase takes a minute, and `--scenario` runs one alone.
 */

/** A phase: what it is called, what is done to the system, and for how many seconds. */
const phase = (name, kind, seconds, more = {}) => ({ name, kind, seconds, ...more })

const WARM_UP = phase("warmup", "clean", 15)
const BASELINE = phase("baseline", "clean", 60)
const RECOVERY = phase("recovery", "clean", 60)
const around = (...stress) => [WARM_UP, BASELINE, ...stress, RECOVERY]

export const SCENARIOS = {
  idle_in_tx_saturation: { phases: around(phase("idle", "idle-in-tx", 60)) },
  active_readers: { phases: around(phase("readers", "active-readers", 60, { readers: 4 })) },
  event_delivery_burst: { phases: around(phase("pressure", "high-load", 60, { multiplier: 1.5 })) },
  chaos_postgres_restart: { phases: around(phase("restart", "postgres-restart", 30)) },
  chaos_pg_backend_kill: { phases: around(phase("kills", "pg-backend-kill", 60, { perSecond: 2 })) },
  chaos_pool_exhaustion: { phases: around(phase("exhaustion", "pool-exhaustion", 60, { connections: 300 })) },
  chaos_repeated_kills: {
    replicas: 2,
    phases: around(phase("repeated", "repeated-kill", 60, { periodS: 20 })),
  },
  /** How much it does when there is always something to do: the harness's throughput cells. */
  throughput: {
    env: {
      PRODUCER_MODE: "depth-target",
      TARGET_DEPTH: "4000",
      WORKER_COUNT: "128",
      PRODUCER_BATCH_MAX: "1000",
    },
    phases: [WARM_UP, phase("clean", "clean", 60)],
  },
}

/** The same in seconds, to see whether it works. */
export function shortened({ phases, ...scenario }) {
  return {
    ...scenario,
    phases: phases.map((each) => ({ ...each, seconds: Math.ceil(each.seconds / 7), periodS: 4 })),
  }
}

/** What the adapters are told unless the environment says something else. */
export const ENVIRONMENT = {
  SCENARIO: "long_horizon",
  PRODUCER_MODE: "fixed",
  PRODUCER_RATE: "800",
  PRODUCER_BATCH_MAX: "128",
  PRODUCER_BATCH_MS: "10",
  TARGET_DEPTH: "4000",
  WORKER_COUNT: "32",
  JOB_WORK_MS: "1",
  JOB_PAYLOAD_BYTES: "256",
  SAMPLE_EVERY_S: "1",
}

/** The server's settings, as the harness pins them. */
export const SERVER_SETTINGS = {
  max_connections: "400",
  shared_buffers: "256MB",
  work_mem: "8MB",
  maintenance_work_mem: "128MB",
  synchronous_commit: "on",
  wal_level: "replica",
  max_wal_size: "1GB",
  checkpoint_timeout: "5min",
  // Ours is another one.
  autovacuum_naptime: "60s",
}
