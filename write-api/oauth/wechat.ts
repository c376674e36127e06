import type { FastifyRequest } from 'fastify'
import { optionFlag, optionValue } from '#domain/options/registry.ts'
import { onlySession, principalOf } from '#infra/http/access.ts'
import { addressKey } from '#infra/http/address-key.ts'
import { Done, success } from '#infra/http/envelope.ts'
import { httpError } from '#infra/http/http-errors.ts'
import { refuseNavigation } from '#infra/http/origin.ts'
import { type Claim, isFull } from '#infra/limits/port.ts'
import { allOptions } from '#projections/options/query.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import type { Action, Deps } from '../action.ts'
import { LoginResult } from '../contract/login.ts'
import { WeChatQuery } from '../contract/oauth.ts'
import { requireRecentLogin } from '../credentials/proof.ts'
import { readSecretOption } from '../options/read-secret-option.ts'
import { askProvider } from './ask-provider.ts'
import { bound, confirmed } from './authorize.ts'
import { loginWithIdentity } from './identity-login.ts'
import { oauthError } from './oauth-errors.ts'
import { type Profile, ProviderFailed, plainText } from './provider.ts'

/** As long as a code is good for. */
const WINDOW_MS = 180_000
const TRIES_MAX = 5
/** Of the whole site: who has many addresses guesses no faster. */
const SITE_TRIES_MAX = 100

/**
 * Whose code it is, as the operator's WeChat server says. A wrong code is refused; an address has
 * five wrong ones in three minutes and the site a hundred, since six digits are soon guessed.
 */
async function weChatProfile(deps: Deps, request: FastifyRequest, code: string): Promise<Profile> {
  const { core } = deps
  const { values, secretRefs } = await allOptions(core.db)
  if (!optionFlag(values, 'WeChatAuthEnabled'))
    throw oauthError('WayInClosed', { provider: 'wechat' })
  const server = optionValue(values, 'WeChatServerAddress').replace(/\/+$/, '')
  if (server === '') throw oauthError('OAuthNotSetUp', { provider: 'wechat' })
  const token = await readSecretOption(core, secretRefs, 'WeChatServerToken')
  const permit = await takeTry(deps, request)
  const url = `${server}/api/wechat/user?${new URLSearchParams({ code: code.trim() })}`
  const answer = await confirmed(deps, 'wechat', async () => {
    const said = await askProvider(deps.outbound, url, { headers: { authorization: token } })
    if (typeof said.success !== 'boolean') throw new ProviderFailed('answered something else')
    return said
  })
  const id = answer.success === true ? plainText(answer.data) : ''
  if (id === '') throw oauthError('WeChatCodeWrong')
  permit.release({ isRefunded: true })
  return { identity: { provider: 'wechat', id }, username: '', displayName: '' }
}

async function takeTry({ core }: Deps, request: FastifyRequest) {
  const rate = (key: string, max: number): Claim => ({
    kind: 'rate',
    key,
    max,
    periodMs: WINDOW_MS,
    isRefundable: true,
  })
  const outcome = await core.limits.enter('login', [
    rate(`wechat:${addressKey(core.vault, request.ip)}`, TRIES_MAX),
    rate('wechat:site', SITE_TRIES_MAX),
  ])
  if (isFull(outcome)) throw httpError('TooManyRequests', {}, Math.ceil(outcome.waitMs / 1_000))
  return outcome
}

/**
 * GET /api/oauth/wechat: a way in by the code that the account of the QR code answers with. For the
 * console's own calls: a link would log whoever opens it in as the code's owner.
 */
export const weChatLogin: Action = (api, deps) => {
  api.get(
    '/api/oauth/wechat',
    {
      onRequest: async (request) => refuseNavigation(request),
      schema: {
        summary: 'Log in, or register, by a code from WeChat',
        querystring: WeChatQuery,
        response: { 200: Envelope(LoginResult) },
      },
    },
    async (request, reply) => {
      const { code, aff = '' } = request.query
      const profile = await weChatProfile(deps, request, code)
      return success(await loginWithIdentity(deps, request, reply, profile, { aff }))
    },
  )
}

/** GET /api/oauth/wechat/bind: binds the WeChat account that a code is of. */
export const weChatBind: Action = (api, deps) => {
  api.get(
    '/api/oauth/wechat/bind',
    {
      onRequest: onlySession,
      schema: {
        summary: 'Bind the WeChat account that a code is of',
        querystring: WeChatQuery,
        response: { 200: Done },
      },
    },
    async (request, reply) => {
      await requireRecentLogin(deps, request)
      const profile = await weChatProfile(deps, request, request.query.code)
      return bound(deps, request, reply, profile, principalOf(request).userId)
    },
  )
}
