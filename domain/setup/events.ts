import type { Fact } from '../shared/event.ts'

export const SITE_STREAM = 'site'

/** An admin completed the first-run screen, which is possible only once. */
export type SiteInitialized = Fact<
  'SiteInitialized',
  {
    readonly rootUserId: number
    readonly isSelfUse: boolean
    readonly isDemoSite: boolean
  }
>

export type SiteEvent = SiteInitialized
