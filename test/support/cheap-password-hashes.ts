import { HASH_COSTS } from '#infra/vault/password-hash.ts'

// Every test file loads this module again. Only the first load sees the costs that the product
// uses.
const noted = globalThis as { realHashCosts?: typeof HASH_COSTS }
noted.realHashCosts ??= { ...HASH_COSTS }

/** The hash costs of the product. */
export const REAL_HASH_COSTS = noted.realHashCosts

// Hundreds of tests log users in, so their password hashes use minimal costs.
Object.assign(HASH_COSTS, { memoryKib: 8, passes: 1 })
