import { HASH_COSTS } from '#infra/vault/password-hash.ts'

// Loaded before every test file, so several times in a process: the first time notes them.
const noted = globalThis as { realHashCosts?: typeof HASH_COSTS }
noted.realHashCosts ??= { ...HASH_COSTS }

/** What the product spends, for the tests of password hashes themselves. */
export const REAL_HASH_COSTS = noted.realHashCosts

// Hundreds of tests log users in, and their hashes cost nothing.
Object.assign(HASH_COSTS, { memoryKib: 8, passes: 1 })
