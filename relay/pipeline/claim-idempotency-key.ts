import { createHash } from 'node:crypto'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import { findEndedCall } from '#domain/accounts/state.ts'
import type { Core } from '#infra/core-dependencies.ts'
import type { CallClaim, ClaimedCall, ClaimedCalls } from '#relay/idempotency/idempotency-claims.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import type { RequestKind } from '../views/channel-view.ts'
import type { Caller } from './authenticate.ts'
import type { Exchange } from './http-exchange.ts'

/** The call to which an `Idempotency-Key` belongs. */
export type KeyedCall = {
  readonly call: string
  /**
   * Releases the key of a call that cost nothing, so that the key can be used for a new call. Never
   * throws.
   */
  readonly free: () => Promise<void>
}

type Deps = Pick<Core, 'log' | 'now' | 'actors'> & { readonly claimedCalls: ClaimedCalls }

const HEADER = 'Idempotency-Key'
const KEY = /^[\x21-\x7e][\x20-\x7e]{0,254}$/

/** Reports whether the request has an `Idempotency-Key`. */
export const isKeyed = ({ request }: Exchange): boolean =>
  request.headers['idempotency-key'] !== undefined

/**
 * Claims the request's `Idempotency-Key` and returns the call to which the key belongs. For a
 * repeated request, this is the original call. Returns null for a request without a key, and an
 * error if the key is malformed, belongs to another request or can't be claimed.
 */
export function claimIdempotencyKey(
  deps: Deps,
  exchange: Exchange,
  caller: Caller,
  content: KeyedContent,
): RelayError | null | Promise<KeyedCall | RelayError> {
  const key = exchange.request.headers['idempotency-key']
  return key === undefined ? null : claimKey(deps, exchange, caller, { ...content, key })
}

/**
 * Reports whether the request repeats an admitted call by its `Idempotency-Key`. The result does
 * not tell how that call ended: the later admission finds this out. A key whose call the account
 * refused belongs to no admitted call. Returns false if the look-up fails.
 */
export async function repeatsAdmittedCall(
  { claimedCalls, actors, log }: Deps,
  { request, call }: Exchange,
  { token: { tokenId }, user: { userId } }: Caller,
  content: KeyedContent,
): Promise<boolean> {
  const key = request.headers['idempotency-key']
  if (typeof key !== 'string') return false
  try {
    const keyHash = sha256(key)
    const claim = await claimedCalls.find({ tokenId, keyHash })
    if (claim?.bodyHash !== hashOf(request, content)) return false
    return await actors.ask(accountDecider, accountStream(userId), ({ open, ended }) => {
      return open.has(claim.call) || findEndedCall(ended, claim.call) !== 'unknown'
    })
  } catch (err) {
    log.warn({ err, call }, 'an idempotency key could not be looked up')
    return false
  }
}

type KeyedContent = { readonly work: RequestKind; readonly body: Buffer }

async function claimKey(
  deps: Deps,
  { request, call }: Exchange,
  { token: { tokenId }, user: { userId } }: Caller,
  { key, ...content }: KeyedContent & { readonly key: string | string[] },
): Promise<KeyedCall | RelayError> {
  if (typeof key !== 'string' || !KEY.test(key))
    return relayError('invalid_parameter', { param: HEADER })
  const keyHash = sha256(key)
  const bodyHash = hashOf(request, content)
  const { claimedCalls, log, now } = deps
  try {
    const claim = { userId, tokenId, keyHash, bodyHash, call, at: now() }
    const claimed = await claimUnlessRunning(deps, claim)
    // Earlier releases stored the hash of the body alone.
    if (claimed.bodyHash !== bodyHash && claimed.bodyHash !== sha256(content.body)) {
      return relayError('idempotency_key_reused', { param: HEADER })
    }
    const free = () =>
      claimedCalls.free({ tokenId, keyHash, call: claimed.call }).catch((err: unknown) => {
        const text = 'an idempotency key of a call without a charge could not be released'
        log.warn({ err, call: claimed.call }, text)
      })
    return { call: claimed.call, free }
  } catch (err) {
    log.error({ err, call }, 'an idempotency key could not be claimed')
    return relayError('store_unavailable', { retryAfter: 5 })
  }
}

/**
 * Claims a key. An expired claim is replaced only if its call has ended. A batch, a task or a
 * stream may run for longer than a claim lasts, and a repeat would otherwise start and charge the
 * same work again.
 */
async function claimUnlessRunning(
  { claimedCalls, actors }: Deps,
  claim: CallClaim,
): Promise<ClaimedCall> {
  const claimed = await claimedCalls.claim(claim)
  if (!claimed.isExpired) return claimed
  // The calls of an account include its tasks, and a batch has the id of its first call.
  const isRunning = await actors.ask(accountDecider, accountStream(claim.userId), ({ open }) =>
    open.has(claimed.call),
  )
  if (isRunning) return claimed
  await claimedCalls.replace(claim, claimed.call)
  // Another repeat may have replaced the claim first. All repeats then get the call of that repeat.
  return claimedCalls.claim(claim)
}

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex')

/**
 * Returns a hash of the request's kind, method, path and body. The path is included, because the
 * same body sent to another path is a different request.
 */
function hashOf(
  { method, url = '' }: Exchange['request'],
  { work, body }: { readonly work: RequestKind; readonly body: Buffer },
): string {
  const [path] = url.split('?')
  return createHash('sha256').update(`${work} ${method} ${path}\n`).update(body).digest('hex')
}
