import type { LoginFailure } from '#domain/credentials/events.ts'
import { networkOf } from '#infra/http/client-address-hash.ts'

/**
 * The priority of a failed login. 2: the account belongs to an admin or auditor. 1: the first
 * factor of the login was correct. 0: all other logins.
 */
export type Urgency = 0 | 1 | 2

export type FailedLogin = {
  readonly reason: LoginFailure
  /**
   * The user of the login. Null if the user was not known when the login failed: the username is
   * unknown, or a login with an identity of another site failed before the user was found.
   */
  readonly userId: number | null
  readonly urgency: Urgency
  readonly ip: string
  /** The time of the failed login in Unix milliseconds. */
  readonly at: number
}

/** The failed logins of one account from one network, added up. */
export type FailedLoginTally = {
  readonly userId: number | null
  readonly urgency: Urgency
  /**
   * The IP address from which the logins came, or their network if there were several addresses.
   * Null if there were several networks, or if the address has no network.
   */
  readonly from: string | null
  readonly count: number
  readonly reasons: ReadonlyMap<LoginFailure, number>
  readonly firstAt: number
  readonly lastAt: number
}

/**
 * The maximum number of tallies in memory, without the overflow tally. When this number is reached,
 * a failed login that needs a new tally is added to the overflow tally, which has no account and no
 * network. If the login has a higher urgency than an existing tally, that tally is moved to the
 * overflow tally instead.
 */
const TALLIES_MAX = 1_000
/**
 * The maximum number of networks for which the failed logins to one account are counted separately.
 * Failed logins from all other networks are added up in one more tally.
 */
const NETWORKS_PER_ACCOUNT_MAX = 3
/**
 * The maximum number of tallies that are recorded in one period. All other tallies are added up in
 * one more tally without an account.
 */
const TALLIES_PER_PERIOD_MAX = 15

/**
 * Adds up failed logins in a limited amount of memory, however many accounts and networks an
 * attacker uses. Failed logins with a higher urgency have priority, so that an attacker can't hide
 * them among many other failed logins.
 */
export class FailedLoginTallies {
  #tallies = new Map<string, FailedLoginTally>()
  #networks = new Map<number | null, Set<string>>()
  #overflow: FailedLoginTally | null = null

  get size(): number {
    return this.#tallies.size + (this.#overflow === null ? 0 : 1)
  }

  add({ reason, userId, urgency, ip, at }: FailedLogin): void {
    const reasons = new Map([[reason, 1]])
    const from = networkOf(ip) === '' ? null : ip
    this.merge({ userId, urgency, from, count: 1, reasons, firstAt: at, lastAt: at })
  }

  merge(tally: FailedLoginTally): void {
    const network = this.#networkOf(tally)
    const key = `${tally.userId} ${network}`
    const earlier = this.#tallies.get(key)
    if (earlier === undefined && this.#tallies.size >= TALLIES_MAX && !this.#makeRoomFor(tally)) {
      this.#overflow = addToOverflow(this.#overflow, tally)
      return
    }
    const from = network === SEVERAL_NETWORKS ? null : tally.from
    this.#tallies.set(key, earlier === undefined ? { ...tally, from } : sumOf(earlier, tally))
  }

  /**
   * Removes all tallies of the period and returns the tallies to record, ordered by urgency and
   * then by count. If there are too many, or the overflow tally is not empty, the last returned
   * tally is the sum of all other tallies.
   */
  drain(): readonly FailedLoginTally[] {
    const all = [...this.#tallies.values()].toSorted(
      (one, other) => other.urgency - one.urgency || other.count - one.count,
    )
    const rest = all.slice(TALLIES_PER_PERIOD_MAX).reduce(addToOverflow, this.#overflow)
    this.#tallies.clear()
    this.#networks.clear()
    this.#overflow = null
    return [...all.slice(0, TALLIES_PER_PERIOD_MAX), ...(rest === null ? [] : [rest])]
  }

  /**
   * Returns the network under which a failed login is counted. Returns `SEVERAL_NETWORKS` if the
   * account already has the maximum number of other networks, or if the logins came from several
   * networks.
   */
  #networkOf({ userId, from, urgency }: FailedLoginTally): string {
    const network = from === null ? SEVERAL_NETWORKS : from.includes('/') ? from : networkOf(from)
    const networks = this.#networks.get(userId) ?? new Set()
    if (networks.has(network)) return network
    if (network === SEVERAL_NETWORKS || networks.size >= NETWORKS_PER_ACCOUNT_MAX)
      return SEVERAL_NETWORKS
    const isCounted = urgency > 0 || this.#tallies.size < TALLIES_MAX
    if (isCounted) this.#networks.set(userId, networks.add(network))
    return network
  }

  #makeRoomFor({ urgency }: FailedLoginTally): boolean {
    if (urgency === 0) return false
    for (const [key, tally] of this.#tallies) {
      if (tally.urgency >= urgency) continue
      this.#tallies.delete(key)
      this.#overflow = addToOverflow(this.#overflow, tally)
      return true
    }
    return false
  }
}

const SEVERAL_NETWORKS = 'several'

function sumOf(one: FailedLoginTally, other: FailedLoginTally): FailedLoginTally {
  const reasons = new Map(one.reasons)
  for (const [reason, count] of other.reasons)
    reasons.set(reason, (reasons.get(reason) ?? 0) + count)
  return {
    userId: one.userId,
    urgency: one.urgency > other.urgency ? one.urgency : other.urgency,
    from: one.from === other.from || one.from === null ? one.from : commonNetwork(one, other),
    count: one.count + other.count,
    reasons,
    firstAt: Math.min(one.firstAt, other.firstAt),
    lastAt: Math.max(one.lastAt, other.lastAt),
  }
}

const commonNetwork = ({ from }: FailedLoginTally, other: FailedLoginTally): string | null => {
  if (from === null || other.from === null) return null
  return from.includes('/') ? from : networkOf(from)
}

const addToOverflow = (
  rest: FailedLoginTally | null,
  tally: FailedLoginTally,
): FailedLoginTally => {
  const anonymous = { ...tally, userId: null, urgency: 0, from: null } as const
  return rest === null ? anonymous : sumOf(rest, anonymous)
}
