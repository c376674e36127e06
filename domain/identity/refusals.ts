import type { Refusal } from '../shared/refusal.ts'

/** The identity is another user's. */
export type IdentityRefusalCode = 'IdentityTaken'

export type IdentityRefusal = Refusal<IdentityRefusalCode>
