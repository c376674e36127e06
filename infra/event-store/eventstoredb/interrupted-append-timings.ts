export type RecoveryTimes = {
  readonly everyMs: number
  /**
   * The minimum age in milliseconds of a joint append (one append to several streams) before it is
   * recovered. A younger joint append may still be in progress.
   */
  readonly graceMs: number
}

export const RECOVERY_TIMES: RecoveryTimes = { everyMs: 4_000, graceMs: 15_000 }
