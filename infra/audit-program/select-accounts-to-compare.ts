import type { AccountToVerify } from '#projections/runner/verify-account-rows.ts'

/**
 * The rows of each account are compared at least once in this number of incremental verifications.
 * There is one in each night, so every account is compared within a week.
 */
const VERIFICATIONS_PER_CYCLE = 6
/**
 * The minimum number of events of the accounts whose turn it is. A site with fewer events has all
 * of its accounts compared in each incremental verification.
 */
const EVENTS_IN_TURN_MIN = 100_000
/**
 * The maximum number of events of the accounts that are compared because the verification has read
 * new events of them. The accounts that are left out are compared when it is their turn.
 */
const EVENTS_OF_TOUCHED_MAX = 2_000_000

export type AccountSelection = {
  /** The users whose rows are compared, with the numbers of their events. */
  readonly accounts: readonly AccountToVerify[]
  /** The first user of the next verification's turn, or 0 to begin again. */
  readonly nextAccount: number
}

/**
 * Selects the accounts whose rows an incremental verification compares: those whose turn it is, and
 * those with new events, the ones with the fewest events first. The turn ends with the account that
 * completes a sixth of all events, because the work of a night depends on the events and not on the
 * accounts. `revisions` has the last revision of each stream.
 */
export function selectAccountsToCompare(
  revisions: ReadonlyMap<string, number>,
  touched: ReadonlySet<string>,
  nextAccount: number,
): AccountSelection {
  const accounts: (AccountToVerify & { readonly isTouched: boolean })[] = []
  let total = 0
  for (const [stream, revision] of revisions) {
    const [, userId] = /^account-(\d+)$/.exec(stream) ?? []
    if (userId === undefined) continue
    const events = revision + 1
    total += events
    accounts.push({ userId: Number(userId), events, isTouched: touched.has(stream) })
  }
  accounts.sort((a, b) => a.userId - b.userId)
  const max = Math.max(EVENTS_IN_TURN_MIN, Math.ceil(total / VERIFICATIONS_PER_CYCLE))
  const found = accounts.findIndex(({ userId }) => userId >= nextAccount)
  const first = max >= total || found < 0 ? 0 : found
  let end = first
  for (let events = 0; events < max && end < accounts.length; end += 1) {
    events += accounts[end]?.events ?? 0
  }
  const selected = new Set(accounts.slice(first, end))
  let left = EVENTS_OF_TOUCHED_MAX
  for (const account of accounts.toSorted((a, b) => a.events - b.events)) {
    if (!account.isTouched || selected.has(account)) continue
    left -= account.events
    if (left < 0) break
    selected.add(account)
  }
  return {
    accounts: [...selected].map(({ userId, events }) => ({ userId, events })),
    nextAccount: accounts[end]?.userId ?? 0,
  }
}
