import { createHash, randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { principalNow, requireOwnPassword } from '#infra/http/access.ts'
import { addressKey } from '#infra/http/address-key.ts'
import { httpError } from '#infra/http/http-errors.ts'
import { isFull } from '#infra/limits/port.ts'
import type { OAuthType, StateQuery } from '#write-api/contract/oauth.ts'
import type { Deps } from '../action.ts'
import { requireRecentLogin } from '../credentials/proof.ts'
import { isSameBrowser, issueBrowserCookie } from '../sessions/browser-cookie.ts'
import { oauthError } from './oauth-errors.ts'
import type { Trip } from './provider.ts'

/** What a state stands for, fixed when it is issued. */
export type Journey = Trip & {
  /** null: whoever asked sends the browser there by itself. */
  readonly type: OAuthType | null
  /** Whose account it will be bound to; null: it logs in. */
  readonly bindTo: number | null
  /** Who alone may log in by it; left out: anybody. */
  readonly only?: number
  readonly aff: string
}

type Kept = Journey & { readonly browser: string }

const KIND = 'oauth-state'
const TTL_MS = 600_000
const COOKIE = { name: 'oauth_browser', path: '/api/oauth', seconds: TTL_MS / 1_000 }
const PER_MINUTE_MAX = 30

/**
 * Issues a state of 256 bits for this browser, good for ten minutes and one return. Throws 401 for
 * a binding, or a login anew, without a session.
 */
export async function issueState(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { aff = '', intent }: StateQuery,
  trip: Pick<Journey, 'type' | 'redirectUri'>,
): Promise<{ readonly state: string; readonly journey: Journey }> {
  await checkRate(deps, request)
  const userId = intent === 'login' ? null : await userOf(request)
  if ((intent === 'bind' || intent === 'anew') && userId === null) throw httpError('NotLoggedIn')
  const bindTo = intent === 'anew' ? null : userId
  if (bindTo !== null) await requireRecentLogin(deps, request)
  const state = random()
  // Where the browser is sent by somebody else, the provider hears of neither.
  const [verifier, nonce] = trip.type === null ? ['', ''] : [random(), random()]
  const only = intent === 'anew' && userId !== null ? { only: userId } : {}
  const journey = { ...trip, ...only, verifier, nonce, bindTo, aff }
  const kept: Kept = { ...journey, browser: issueBrowserCookie(request, reply, COOKIE) }
  await deps.core.shortLived.put(KIND, hash(state), JSON.stringify(kept), TTL_MS)
  return { state, journey }
}

/**
 * What the state stands for, once. Throws when it is unknown, over, used, another browser's or
 * another provider's.
 */
export async function takeState(
  { core }: Deps,
  request: FastifyRequest,
  state: string,
  type: OAuthType | null,
): Promise<Journey> {
  const text = await core.shortLived.take(KIND, hash(state))
  if (text === null) throw oauthError('OAuthStateInvalid')
  const { browser, ...journey } = JSON.parse(text) as Kept
  const isHere = isSameBrowser(browser, request, COOKIE)
  if (!isHere || (journey.type !== null && journey.type !== type)) {
    throw oauthError('OAuthStateInvalid')
  }
  return journey
}

/**
 * The user of this request's session, named by `User-Id` as well; null when there is none. Only a
 * navigation can't send the header: `mayLackHeader` is for what a state holds to its browser.
 */
export async function userOf(
  request: FastifyRequest,
  { mayLackHeader }: { readonly mayLackHeader: boolean } = { mayLackHeader: false },
): Promise<number | null> {
  const principal = await principalNow(request)
  const named = request.headers['user-id']
  if (principal === null) return null
  if (named === undefined ? !mayLackHeader : named !== String(principal.userId)) return null
  requireOwnPassword(principal)
  request.principal = principal
  return principal.userId
}

async function checkRate({ core }: Deps, request: FastifyRequest): Promise<void> {
  const key = `oauth-state:${addressKey(core.vault, request.ip)}`
  const claim = { key, max: PER_MINUTE_MAX, periodMs: 60_000, isRefundable: false } as const
  const outcome = await core.limits.enter('login', [{ kind: 'rate', ...claim }])
  if (isFull(outcome)) throw httpError('TooManyRequests', {}, Math.ceil(outcome.waitMs / 1_000))
  outcome.release({ isRefunded: false })
}

const random = (): string => randomBytes(32).toString('base64url')
const hash = (text: string): string => createHash('sha256').update(text).digest('base64url')
