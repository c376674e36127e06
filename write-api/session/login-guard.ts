const IP_TRIES_MAX = 10
const IP_WINDOW_MS = 60_000
const FREE_TRIES = 5
const DELAY_MS_MAX = 30_000
const FORGET_AFTER_MS = 15 * 60_000
const REMEMBERED_MAX = 20_000

type Record = { tries: number; lastAt: number }

/**
 * Slows down who guesses passwords: an address has 10 wrong tries a minute, and after 5 wrong ones
 * for an account each further try waits twice as long, 30 seconds at most. Never a hard lock, which
 * anybody could use to keep somebody else out.
 */
export type LoginGuard = {
  /** Seconds to wait, or 0: then this try counts as wrong until `succeeded` says otherwise. */
  enter(ip: string, account: string): number
  succeeded(ip: string, account: string): void
}

/** `now` in unix milliseconds. What it remembers is bounded. */
export function createLoginGuard(now: () => number): LoginGuard {
  const byIp = new Map<string, Record>()
  const byAccount = new Map<string, Record>()
  const ipWaitMs = (ip: string, at: number): number => {
    const record = byIp.get(ip)
    if (record === undefined || at - record.lastAt >= IP_WINDOW_MS) return 0
    return record.tries < IP_TRIES_MAX ? 0 : record.lastAt + IP_WINDOW_MS - at
  }
  const accountWaitMs = (account: string, at: number): number => {
    const record = byAccount.get(account)
    if (record === undefined || record.tries < FREE_TRIES) return 0
    const delayMs = Math.min(DELAY_MS_MAX, 1_000 * 2 ** (record.tries - FREE_TRIES))
    return Math.max(0, record.lastAt + delayMs - at)
  }
  return {
    enter: (ip, account) => {
      const at = now()
      const waitMs = Math.max(ipWaitMs(ip, at), accountWaitMs(account, at))
      if (waitMs > 0) return Math.ceil(waitMs / 1_000)
      note(byIp, ip, at, IP_WINDOW_MS, 'window')
      note(byAccount, account, at, FORGET_AFTER_MS, 'each')
      return 0
    },
    succeeded: (ip, account) => {
      const record = byIp.get(ip)
      if (record !== undefined) record.tries = Math.max(0, record.tries - 1)
      byAccount.delete(account)
    },
  }
}

/** Counts a try; the oldest record makes room for a new one. */
function note(
  records: Map<string, Record>,
  key: string,
  at: number,
  forgetMs: number,
  time: 'window' | 'each',
): void {
  const known = records.get(key)
  const isFresh = known !== undefined && at - known.lastAt < forgetMs
  records.delete(key)
  if (records.size >= REMEMBERED_MAX) {
    const [oldest] = records.keys()
    if (oldest !== undefined) records.delete(oldest)
  }
  const lastAt = isFresh && time === 'window' ? known.lastAt : at
  records.set(key, { tries: (isFresh ? known.tries : 0) + 1, lastAt })
}
