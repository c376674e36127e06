import type { FastifyRequest } from 'fastify'
import { optionFlag, optionValue } from '#domain/options/option-registry.ts'
import { onlySession, principalOf } from '#infra/http/access-checks.ts'
import { addressKey } from '#infra/http/client-address-hash.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { rejectNavigation } from '#infra/http/origin-checks.ts'
import { success } from '#infra/http/response-envelope.ts'
import { type Claim, isFull } from '#infra/limits/port.ts'
import { allOptions } from '#projections/options/query.ts'
import type { Action, Deps } from '../action.ts'
import { oauthActions } from '../contract/oauth.ts'
import { requireRecentLogin } from '../credentials/identity-proof.ts'
import { readSecretOption } from '../options/secret-option-in-vault.ts'
import { countFailures, unknownUser } from '../sessions/record-failed-logins.ts'
import { bindAndRespond, callProvider } from './authorize-and-callback.ts'
import { loginWithIdentity } from './identity-login.ts'
import { oauthError } from './oauth-errors.ts'
import { type Profile, ProviderFailed, plainText } from './oauth-provider-types.ts'
import { requestProvider } from './provider-client.ts'

/**
 * The time in milliseconds for which a code is valid. Wrong codes are counted over the same period.
 */
const WINDOW_MS = 180_000
const ADDRESS_FAILURES_MAX = 5
/**
 * The maximum number of wrong codes per period on the whole site. This maximum limits guesses from
 * many IP addresses.
 */
const SITE_FAILURES_MAX = 100

/**
 * Asks the operator's WeChat server to which user a code belongs, and returns the profile. Codes
 * have only six digits, so wrong codes are limited. Within three minutes, five are allowed per IP
 * address, and a hundred on the whole site.
 */
async function weChatProfile(deps: Deps, request: FastifyRequest, code: string): Promise<Profile> {
  const { core } = deps
  const { values, secretRefs } = await allOptions(core.db)
  if (!optionFlag(values, 'WeChatAuthEnabled'))
    throw oauthError('WayInClosed', { provider: 'wechat' })
  const server = optionValue(values, 'WeChatServerAddress').replace(/\/+$/, '')
  if (server === '') throw oauthError('OAuthNotSetUp', { provider: 'wechat' })
  const token = await readSecretOption(core, secretRefs, 'WeChatServerToken')
  const permit = await acquireAttempt(deps, request)
  const url = `${server}/api/wechat/user?${new URLSearchParams({ code: code.trim() })}`
  const answer = await callProvider(deps, 'wechat', async () => {
    const body = await requestProvider(deps.outbound, url, { headers: { authorization: token } })
    if (typeof body.success !== 'boolean') throw new ProviderFailed('answered in an unknown format')
    return body
  })
  const id = answer.success === true ? plainText(answer.data) : ''
  if (id === '') throw oauthError('WeChatCodeWrong')
  permit.release({ isRefunded: true })
  return { identity: { provider: 'wechat', id }, username: '', displayName: '' }
}

async function acquireAttempt({ core }: Deps, request: FastifyRequest) {
  const rate = (key: string, max: number): Claim => ({
    kind: 'rate',
    key,
    max,
    periodMs: WINDOW_MS,
    isRefundable: true,
  })
  const outcome = await core.limits.enter('login', [
    rate(`wechat:${addressKey(core.vault, request.ip)}`, ADDRESS_FAILURES_MAX),
    rate('wechat:site', SITE_FAILURES_MAX),
  ])
  if (isFull(outcome)) throw httpError('TooManyRequests', {}, Math.ceil(outcome.waitMs / 1_000))
  return outcome
}

/**
 * GET /api/oauth/wechat: signs a user in with a code of the WeChat official account. If a browser
 * opens this address as a page, the request is rejected. Without this check, a link with an
 * attacker's code could sign the visitor in to the attacker's account.
 */
export const weChatLogin: Action = (api, deps) => {
  api.route({
    ...endpoint(oauthActions, 'GET /api/oauth/wechat'),
    onRequest: async (request) => rejectNavigation(request),
    handler: (request, reply) =>
      countFailures(deps, request, unknownUser, async () => {
        const { code, aff = '' } = request.query
        const profile = await weChatProfile(deps, request, code)
        return success(await loginWithIdentity(deps, request, reply, profile, { aff }))
      }),
  })
}

/** GET /api/oauth/wechat/bind: binds the WeChat account that received the code. */
export const weChatBind: Action = (api, deps) => {
  api.route({
    ...endpoint(oauthActions, 'GET /api/oauth/wechat/bind'),
    onRequest: onlySession,
    handler: async (request, reply) => {
      await requireRecentLogin(deps, request)
      const profile = await weChatProfile(deps, request, request.query.code)
      return bindAndRespond(deps, request, reply, profile, principalOf(request).userId)
    },
  })
}
