import { createHash, randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { principalOfSession, requireOwnPassword } from '#infra/http/access-checks.ts'
import { addressKey } from '#infra/http/client-address-hash.ts'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { isFull } from '#infra/limits/port.ts'
import type { OAuthType, StateQuery } from '#write-api/contract/oauth.ts'
import type { Deps } from '../action.ts'
import { requireRecentLogin } from '../credentials/identity-proof.ts'
import { isSameBrowser, issueBrowserCookie } from '../sessions/browser-binding-cookie.ts'
import { oauthError } from './oauth-errors.ts'
import type { AuthorizationParams } from './oauth-provider-types.ts'

/**
 * A login or a binding that a user has started. The server stores this data with the issued state.
 */
export type OAuthFlow = AuthorizationParams & {
  /** The provider, or null if the client redirects the browser itself. */
  readonly type: OAuthType | null
  /** The id of the user to whom the identity is to be bound, or null for a login. */
  readonly bindTo: number | null
  /**
   * The id of the user to whom the identity must belong. If it is omitted, any user can sign in.
   */
  readonly only?: number
  readonly aff: string
}

type StoredFlow = OAuthFlow & { readonly browser: string }

const KIND = 'oauth-state'
const TTL_MS = 600_000
const COOKIE = { name: 'oauth_browser', path: '/api/oauth', seconds: TTL_MS / 1_000 }
const PER_MINUTE_MAX = 30

/**
 * Issues a state with 256 random bits. The state is valid for ten minutes, for one callback, and
 * only in the browser that requested it. Throws 401 if the intent is `bind` or `anew` and there is
 * no session. Throws if an identity is to be bound and the last login is not recent.
 */
export async function issueState(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { aff = '', intent }: StateQuery,
  target: Pick<OAuthFlow, 'type' | 'redirectUri'>,
): Promise<{ readonly state: string; readonly flow: OAuthFlow }> {
  await checkRate(deps, request)
  const userId = intent === 'login' ? null : await userOf(request)
  if ((intent === 'bind' || intent === 'anew') && userId === null) throw httpError('NotLoggedIn')
  const bindTo = intent === 'anew' ? null : userId
  if (bindTo !== null) await requireRecentLogin(deps, request)
  const state = random()
  // A client that redirects the browser itself sends no PKCE challenge and no nonce to the
  // provider.
  const [verifier, nonce] = target.type === null ? ['', ''] : [random(), random()]
  const only = intent === 'anew' && userId !== null ? { only: userId } : {}
  const flow = { ...target, ...only, verifier, nonce, bindTo, aff }
  const stored: StoredFlow = { ...flow, browser: issueBrowserCookie(request, reply, COOKIE) }
  await deps.core.shortLived.put(KIND, hash(state), JSON.stringify(stored), TTL_MS)
  return { state, flow }
}

/**
 * Consumes a state. Throws if the state is unknown, expired or already used. Throws if the state
 * was issued for another browser or provider.
 */
export async function consumeState(
  { core }: Deps,
  request: FastifyRequest,
  state: string,
  type: OAuthType | null,
): Promise<OAuthFlow> {
  const text = await core.shortLived.take(KIND, hash(state))
  if (text === null) throw oauthError('OAuthStateInvalid')
  const { browser, ...flow } = JSON.parse(text) as StoredFlow
  const isBrowser = isSameBrowser(browser, request, COOKIE)
  if (!isBrowser || (flow.type !== null && flow.type !== type)) {
    throw oauthError('OAuthStateInvalid')
  }
  return flow
}

/**
 * Returns the id of the session's user, or null if there is no session. Also returns null if the
 * header `User-Id` contains another id, or is missing. If `mayLackHeader` is true, a missing header
 * is accepted, because a browser that opens an address sends no such header. In this case, the
 * caller must check that the state was issued in the same browser. Sets `request.principal` if it
 * returns a user. Throws if the session was started with a temporary password.
 */
export async function userOf(
  request: FastifyRequest,
  { mayLackHeader }: { readonly mayLackHeader: boolean } = { mayLackHeader: false },
): Promise<number | null> {
  const principal = await principalOfSession(request)
  const header = request.headers['user-id']
  if (principal === null) return null
  if (header === undefined ? !mayLackHeader : header !== String(principal.userId)) return null
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
