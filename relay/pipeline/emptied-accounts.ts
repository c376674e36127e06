import { accountDecider } from '#domain/account/decide.ts'
import { accountStream } from '#domain/account/events.ts'
import type { Core } from '#infra/core.ts'

/** Between two reads of one account. */
const READ_EVERY_MS = 2_000
/** Accounts whose calls have all ended are forgotten after this time. */
const FORGET_AFTER_MS = 60_000

type Reading = { readonly at: number; isPending: boolean; isEmptied: boolean }

/**
 * Which of the accounts with running calls were emptied by an admin or a refund. Any relay or API
 * process may have emptied them, so they have to be read. An account is read once in two seconds at
 * most, however many calls it has, and no call waits for it.
 */
export class EmptiedAccounts {
  private readonly actors: Core['actors']
  /** The account that was read longest ago comes first. */
  private readonly readings = new Map<number, Reading>()

  constructor(actors: Core['actors']) {
    this.actors = actors
  }

  /**
   * True when the account was found empty after `since`, in milliseconds of `performance.now()`: a
   * call must not be ended by what was read before its admission.
   */
  has(userId: number, since: number): boolean {
    const now = performance.now()
    const last = this.readings.get(userId)
    const isDue = last === undefined || (!last.isPending && now - last.at >= READ_EVERY_MS)
    if (isDue) this.read(userId, now)
    return last?.isEmptied === true && last.at >= since
  }

  private read(userId: number, at: number): void {
    const reading: Reading = { at, isPending: true, isEmptied: false }
    this.readings.delete(userId)
    this.readings.set(userId, reading)
    this.forgetOld(at)
    this.actors
      .ask(accountDecider, accountStream(userId), ({ isEmptied }) => isEmptied)
      .then((isEmptied) => {
        reading.isEmptied = isEmptied
      })
      // A store that can't be reached says nothing about the account; the next read may.
      .catch(() => {})
      .finally(() => {
        reading.isPending = false
      })
  }

  private forgetOld(now: number): void {
    for (const [userId, { at }] of this.readings) {
      if (now - at < FORGET_AFTER_MS) return
      this.readings.delete(userId)
    }
  }
}
