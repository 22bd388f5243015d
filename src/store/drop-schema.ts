/** Drops a schema with everything in it. Only the test kit does this, to schemas of its own. */
export const DROP_SCHEMA = "drop schema {schema} cascade"
