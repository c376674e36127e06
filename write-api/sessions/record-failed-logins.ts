import type { FastifyRequest } from 'fastify'
import {
  FAILED_LOGINS_STREAM,
  type LoginFailure,
  type LoginsFailed,
  loginsStream,
} from '#domain/credentials/events.ts'
import { AUDITOR } from '#domain/shared/user-roles-and-statuses.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { newEvents } from '#infra/event-store/events-from-facts.ts'
import { networkOf } from '#infra/http/client-address-hash.ts'
import { HttpError } from '#infra/http/http-error-class-and-catalogue.ts'
import {
  type FailedLogin,
  FailedLoginTallies,
  type FailedLoginTally,
} from './tally-failed-logins.ts'

/**
 * The length of the first period in milliseconds. It is short, so that a failed login soon appears
 * in the audit log.
 */
const PERIOD_MS_MIN = 5_000
const PERIOD_MS_MAX = 600_000
/** After this time in milliseconds without a failed login, the next period is short again. */
const QUIET_MS = 600_000

export type FailedLogins = {
  /**
   * Counts a failed login. Never throws, and takes the same time for every account, so that the
   * response time reveals nothing.
   */
  readonly add: (failed: Omit<FailedLogin, 'at'>) => void
  /** Records all counted logins and stops. */
  readonly stop: () => Promise<void>
}

type RecorderDeps = Pick<Core, 'store' | 'vault' | 'now' | 'log'>

/**
 * Records failed logins as a limited number of events. A period begins with a failed login and ends
 * with at most 16 events. While failed logins continue, each period is twice as long as the
 * previous one, up to ten minutes. During a steady attack, a process therefore records at most 2
 * 304 events per day.
 */
export function recordFailedLogins(deps: RecorderDeps): FailedLogins {
  const tallies = new FailedLoginTallies()
  let periodMs = PERIOD_MS_MIN
  let endedAt = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  const endPeriod = async (): Promise<void> => {
    const drained = tallies.drain()
    try {
      await append(deps, drained)
    } catch (err) {
      // The next period includes the tallies, so that an outage of the store hides no attack.
      for (const tally of drained) tallies.merge(tally)
      deps.log.warn({ err }, 'failed logins could not be recorded')
    }
    endedAt = performance.now()
    timer = undefined
    if (tallies.size > 0) begin()
  }
  const begin = (): void => {
    if (timer !== undefined) return
    const isQuiet = performance.now() - endedAt > QUIET_MS
    periodMs = isQuiet ? PERIOD_MS_MIN : Math.min(periodMs * 2, PERIOD_MS_MAX)
    timer = setTimeout(() => {
      running = endPeriod()
    }, periodMs).unref()
  }
  return {
    add: (failed) => {
      tallies.add({ ...failed, at: deps.now() })
      begin()
    },
    stop: async () => {
      clearTimeout(timer)
      await running
      clearTimeout(timer)
      const drained = tallies.drain()
      await append(deps, drained).catch((err: unknown) => {
        deps.log.warn({ err, count: drained.length }, 'failed logins could not be recorded')
      })
    },
  }
}

/** Records all tallies in one append, so that a retry counts nothing twice. */
async function append(deps: RecorderDeps, tallies: readonly FailedLoginTally[]): Promise<void> {
  if (tallies.length === 0) return
  const facts = new Map<string, LoginsFailed[]>()
  for (const tally of tallies) {
    const { userId } = tally
    const stream = userId === null ? FAILED_LOGINS_STREAM : loginsStream(userId)
    facts.set(stream, [...(facts.get(stream) ?? []), await factOf(deps, tally)])
  }
  const context = { actor: 'system:logins', cause: null, at: deps.now() }
  await deps.store.append(
    [...facts].map(([stream, ofStream]) => ({
      ...{ stream, expected: 'any' as const, events: newEvents(ofStream, context) },
    })),
  )
}

async function factOf(
  { vault }: RecorderDeps,
  { userId, from, count, reasons, firstAt, lastAt }: FailedLoginTally,
): Promise<LoginsFailed> {
  const isHashed = userId === null && from !== null
  const network = from?.includes('/') ? from : networkOf(from ?? '')
  const client =
    userId === null || from === null ? null : { userId, ip: await vault.seal(userId, from) }
  const data = {
    ...{ userId, count, reasons: Object.fromEntries(reasons) },
    networkHash: isHashed ? vault.keyedHash('address', `network ${network}`).slice(0, 16) : null,
    ...{ firstAt, lastAt, ...(client === null ? {} : { client }) },
  }
  return { type: 'LoginsFailed', v: 1, data }
}

/**
 * The error codes that mean a failed login. Other errors, such as an unavailable store, do not
 * count.
 */
const FAILURES: Readonly<Record<string, LoginFailure>> = {
  WrongCredentials: 'wrong-password',
  ProofWrong: 'wrong-password',
  WrongOriginalPassword: 'wrong-password',
  CodeWrong: 'wrong-code',
  CodeUsed: 'wrong-code',
  LoginTicketOver: 'wrong-code',
  PasskeyFailed: 'wrong-passkey',
  PasskeyCopied: 'wrong-passkey',
  OAuthFailed: 'identity-rejected',
  OAuthOther: 'identity-rejected',
  OAuthStateInvalid: 'identity-rejected',
  TelegramInvalid: 'identity-rejected',
  WeChatCodeWrong: 'identity-rejected',
  UserBanned: 'account-disabled',
  UserDeactivated: 'account-disabled',
  PasswordLoginDisabled: 'method-disabled',
  TooManyRequests: 'throttled',
}

export type LoginSubject = Pick<FailedLogin, 'urgency'> & { readonly id: number }

export const subjectOf = (
  user: { readonly id: number; readonly role: number } | null,
): LoginSubject | null =>
  user === null ? null : { id: user.id, urgency: user.role >= AUDITOR ? 2 : 0 }

/**
 * Returns null. Used as `who` for logins with an identity of another site, because such a login
 * names no user of this site.
 */
export const unknownUser = (): null => null

/** The errors that were already counted by a nested call of `countFailures`. */
const counted = new WeakSet<HttpError>()

/**
 * Runs a login or one step of a login. If `login` throws an error that means a failed login, counts
 * the failure by its reason. `who` returns the user of the login, or null if the user was not found
 * yet.
 */
export async function countFailures<T>(
  { failedLogins }: { readonly failedLogins: FailedLogins },
  request: FastifyRequest,
  who: () => LoginSubject | null,
  login: () => Promise<T>,
): Promise<T> {
  try {
    return await login()
  } catch (error) {
    const failure = error instanceof HttpError ? FAILURES[error.code] : undefined
    if (failure === undefined || counted.has(error as HttpError)) throw error
    counted.add(error as HttpError)
    const user = who()
    const isUnknown = user === null && failure === 'wrong-password'
    failedLogins.add({
      reason: isUnknown ? 'unknown-user' : failure,
      userId: user?.id ?? null,
      urgency: user?.urgency ?? 0,
      ip: request.ip,
    })
    throw error
  }
}
