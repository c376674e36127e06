import { HASH_COSTS } from '#infra/vault/password-hash.ts'

/** What the product spends, for the tests of password hashes themselves. */
export const REAL_HASH_COSTS = { ...HASH_COSTS }

// Loaded before every test file: hundreds of tests log users in, and their hashes cost nothing.
Object.assign(HASH_COSTS, { memoryKib: 8, passes: 1 })
