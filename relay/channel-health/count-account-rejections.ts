import { providerErrorFields } from '#relay/canonical/read-provider-error-body.ts'
import type { AttemptEnd } from '../pipeline/attempt-end-types.ts'
import { accountErrorOf, STATUS_FORBIDDEN } from '../pipeline/detect-provider-account-error.ts'
import { mayRepeatRequest } from './find-request-text-in-error.ts'

type Failed = Extract<AttemptEnd, { readonly kind: 'failed' }>

/**
 * The failure code for "payment required". It never disables a channel, because the operator ends
 * this failure by topping up the provider's account.
 */
const TEMPORARY = 'status-402'

/**
 * Returns a failure code if a known error or one of `keywords` shows that the provider rejects the
 * site's key or account. Returns null for any other failure, and for `TEMPORARY`. A keyword in the
 * error's message is ignored if the caller's request also contains the keyword, or if the request
 * is not known (`requestBody` is null). Otherwise, callers could disable channels.
 */
export function disablingFailureCode(
  end: Failed,
  keywords: readonly string[],
  requestBody: Buffer | null,
): string | null {
  const reason = accountErrorOf(end)
  if (reason !== null) return reason === TEMPORARY ? null : reason
  if (keywords.length === 0 || (end.error !== 'status' && end.error !== 'error-event')) return null
  const { code, type, message } = providerErrorFields(end.body)
  for (const keyword of keywords) {
    if ([code, type].some((field) => field.toLowerCase().includes(keyword))) {
      return `keyword:${keyword}`
    }
    const at = message.toLowerCase().indexOf(keyword)
    if (at < 0) continue
    const excerpt = message.slice(at, at + keyword.length)
    if (requestBody !== null && !mayRepeatRequest(excerpt, requestBody)) return `keyword:${keyword}`
  }
  return null
}

/** Some providers also use status 403 to forbid a caller's content. */
const MAY_BE_CALLERS_ERROR = STATUS_FORBIDDEN

type Count = { hits: number; since: number; readonly users: Set<number> }

type FailureLimit = { readonly failures: number; readonly windowMs: number }

/**
 * Counts how often the provider has rejected each key or its account. A success or the end of the
 * time window resets the count. A rejection that the caller may have caused counts once per user.
 */
export class AccountRejectionCounts {
  private readonly counts = new Map<number | string, Count>()

  /**
   * Records a rejection of the key `key` in a call of the user `userId`. Returns whether the
   * rejection was counted and whether the limit is reached. When the limit is reached, the count
   * restarts from zero.
   */
  note(
    key: number | string,
    { reason, userId, now }: { reason: string; userId: number; now: number },
    { failures, windowMs }: FailureLimit,
  ): { readonly isCounted: boolean; readonly isLimitReached: boolean } {
    const earlier = this.counts.get(key)
    const count =
      earlier !== undefined && now - earlier.since <= windowMs
        ? earlier
        : { hits: 0, since: now, users: new Set<number>() }
    this.counts.set(key, count)
    const isCounted = reason !== MAY_BE_CALLERS_ERROR || !count.users.has(userId)
    if (isCounted) count.hits += 1
    if (reason === MAY_BE_CALLERS_ERROR) count.users.add(userId)
    const isLimitReached = count.hits >= failures
    if (isLimitReached) this.counts.delete(key)
    return { isCounted, isLimitReached }
  }

  succeed(key: number | string): void {
    if (this.counts.size > 0) this.counts.delete(key)
  }
}
