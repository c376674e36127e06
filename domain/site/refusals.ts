import type { Refusal } from '../shared/refusal.ts'

export type SiteRefusalCode = 'AlreadyInitialized'

export type SiteRefusal = Refusal<SiteRefusalCode>
