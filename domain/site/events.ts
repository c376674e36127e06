import type { Fact } from '../shared/event.ts'

export const SITE_STREAM = 'site'

/** The first-run screen was completed. This happens once. */
export type SiteInitialized = Fact<
  'SiteInitialized',
  {
    readonly rootUserId: number
    readonly isSelfUse: boolean
    readonly isDemoSite: boolean
  }
>

export type SiteEvent = SiteInitialized
