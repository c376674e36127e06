import { providerErrorFields } from '../dialects/openai-chat/error-body.ts'
import { accountErrorOf } from '../pipeline/account-error.ts'
import type { AttemptEnd } from '../pipeline/call-upstream.ts'
import { isEcho } from './echo.ts'

type Failed = Extract<AttemptEnd, { readonly kind: 'failed' }>

/** An account without money may have some again soon: the channel stays. */
const PASSING = 'status-402'

/**
 * Why the provider will have no more of our key or account, as a code; null when it is not that.
 * `requestBody` is what was sent: words of an error that stand in it too are taken for an echo, or
 * any caller could turn channels off.
 */
export function accountTroubleOf(
  end: Failed,
  keywords: readonly string[],
  requestBody: Buffer,
): string | null {
  const reason = accountErrorOf(end)
  if (reason !== null) return reason === PASSING ? null : reason
  if (keywords.length === 0 || (end.error !== 'status' && end.error !== 'error-event')) return null
  const { code, type, message } = providerErrorFields(end.body)
  for (const keyword of keywords) {
    if ([code, type].some((field) => field.toLowerCase().includes(keyword))) {
      return `keyword:${keyword}`
    }
    const at = message.toLowerCase().indexOf(keyword)
    if (at < 0) continue
    const said = message.slice(at, at + keyword.length)
    if (!isEcho(said, requestBody)) return `keyword:${keyword}`
  }
  return null
}

/** Some providers answer 403 to what a caller wrote, too. */
const MAY_BE_CALLERS = 'status-403'

type Count = { hits: number; since: number; readonly users: Set<number> }

type TroubleRule = { readonly failures: number; readonly windowMs: number }

/**
 * How often each channel's account was refused with no success in between. What may be one
 * caller's own doing counts once for each caller.
 */
export class AccountTroubles {
  private readonly counts = new Map<number | string, Count>()

  /** Whether it counts, and whether it is too often by now; then it is counted anew. */
  note(
    key: number | string,
    { reason, userId, now }: { reason: string; userId: number; now: number },
    { failures, windowMs }: TroubleRule,
  ): { readonly isCounted: boolean; readonly isTooOften: boolean } {
    const known = this.counts.get(key)
    const count =
      known !== undefined && now - known.since <= windowMs
        ? known
        : { hits: 0, since: now, users: new Set<number>() }
    this.counts.set(key, count)
    const isCounted = reason !== MAY_BE_CALLERS || !count.users.has(userId)
    if (isCounted) count.hits += 1
    if (reason === MAY_BE_CALLERS) count.users.add(userId)
    const isTooOften = count.hits >= failures
    if (isTooOften) this.counts.delete(key)
    return { isCounted, isTooOften }
  }

  succeed(key: number | string): void {
    if (this.counts.size > 0) this.counts.delete(key)
  }
}
