import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { optionFlag } from '#domain/options/option-registry.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { rejectNavigation } from '#infra/http/origin-checks.ts'
import { success } from '#infra/http/response-envelope.ts'
import { isFull } from '#infra/limits/port.ts'
import { allOptions } from '#projections/options/query.ts'
import type { Action, Deps } from '../action.ts'
import { oauthActions, type TelegramQuery } from '../contract/oauth.ts'
import { readSecretOption } from '../options/secret-option-in-vault.ts'
import { countFailures, unknownUser } from '../sessions/record-failed-logins.ts'
import { bindAndRespond } from './authorize-and-callback.ts'
import { loginWithIdentity } from './identity-login.ts'
import { oauthError } from './oauth-errors.ts'
import type { Profile } from './oauth-provider-types.ts'
import { consumeState, userOf } from './oauth-state.ts'

const AGE_SECONDS_MAX = 300
/** The maximum number of seconds by which Telegram's clock may be ahead of the server's clock. */
const AHEAD_SECONDS_MAX = 60

/**
 * Returns the profile in the data from the Telegram widget. Throws unless Telegram has signed the
 * data with the bot's token (core.telegram.org/widgets/login). The data can be used once, within
 * five minutes.
 */
async function telegramProfile({ core }: Deps, query: TelegramQuery): Promise<Profile> {
  const { values, secretRefs } = await allOptions(core.db)
  if (!optionFlag(values, 'TelegramOAuthEnabled')) {
    throw oauthError('WayInClosed', { provider: 'telegram' })
  }
  const token = await readSecretOption(core, secretRefs, 'TelegramBotToken')
  if (token === '') throw oauthError('OAuthNotSetUp', { provider: 'telegram' })
  const age = Math.floor(core.now() / 1_000) - Number(query.auth_date)
  const isFresh = age <= AGE_SECONDS_MAX && age >= -AHEAD_SECONDS_MAX
  if (!isFresh || !isSigned(query, token)) throw oauthError('TelegramInvalid')
  if (!(await isFirstUse(core, query.hash))) throw oauthError('TelegramInvalid')
  const { first_name = '', last_name = '', username = '' } = query
  return {
    identity: { provider: 'telegram', id: query.id },
    username: username || first_name,
    displayName: `${first_name} ${last_name}`.trim(),
  }
}

const SIGNED = ['auth_date', 'first_name', 'id', 'last_name', 'photo_url', 'username'] as const

/**
 * Reports whether the data has a valid signature. Some versions of the widget sign the field
 * `lang`, and others do not. Both signatures are accepted.
 */
function isSigned(query: TelegramQuery, token: string): boolean {
  const key = createHash('sha256').update(token).digest()
  return [SIGNED, [...SIGNED, 'lang'] as const].some((names) => {
    const lines = [...names]
      .sort()
      .flatMap((name) => (query[name] === undefined ? [] : [`${name}=${query[name]}`]))
    const expected = createHmac('sha256', key).update(lines.join('\n')).digest()
    return timingSafeEqual(expected, Buffer.from(query.hash, 'hex'))
  })
}

/**
 * Reports whether the data is used for the first time. The used data is recorded for all processes,
 * for longer than the data is valid.
 */
async function isFirstUse({ limits, vault }: Deps['core'], hash: string): Promise<boolean> {
  const periodMs = (AGE_SECONDS_MAX + AHEAD_SECONDS_MAX) * 2_000
  const key = `telegram:${vault.keyedHash('identity', hash)}`
  const outcome = await limits.enter('login', [
    { kind: 'rate', key, max: 1, periodMs, isRefundable: false },
  ])
  if (isFull(outcome)) return false
  outcome.release({ isRefunded: false })
  return true
}

/**
 * GET /api/oauth/telegram/login: signs a user in. If the request contains a state, the state must
 * have been issued for a login. If a browser opens this address as a page, the request is rejected,
 * so that a link cannot sign a user in to another account.
 */
export const telegramLogin: Action = (api, deps) => {
  api.route({
    ...endpoint(oauthActions, 'GET /api/oauth/telegram/login'),
    onRequest: async (request) => rejectNavigation(request),
    handler: (request, reply) =>
      countFailures(deps, request, unknownUser, async () => {
        const { state } = request.query
        const flow = state === undefined ? null : await consumeState(deps, request, state, null)
        const isLogin = flow === null || (flow.bindTo === null && flow.only === undefined)
        if (!isLogin) throw oauthError('OAuthStateInvalid')
        const profile = await telegramProfile(deps, request.query)
        return success(await loginWithIdentity(deps, request, reply, profile, flow ?? { aff: '' }))
      }),
  })
}

/**
 * GET /api/oauth/telegram/bind: binds the Telegram account. If the widget makes the browser open
 * this address, the request has no `User-Id` header. The state in the URL must therefore have been
 * issued to the session's user.
 */
export const telegramBind: Action = (api, deps) => {
  api.route({
    ...endpoint(oauthActions, 'GET /api/oauth/telegram/bind'),
    onRequest: async (request) => {
      if ((await userOf(request, { mayLackHeader: true })) === null) throw httpError('NotLoggedIn')
    },
    handler: async (request, reply) => {
      const { state } = request.query
      if (state === undefined) throw oauthError('OAuthStateInvalid')
      const { bindTo } = await consumeState(deps, request, state, null)
      if (bindTo === null) throw oauthError('OAuthStateInvalid')
      if (bindTo !== request.principal?.userId) throw httpError('NotLoggedIn')
      const profile = await telegramProfile(deps, request.query)
      const answer = await bindAndRespond(deps, request, reply, profile, bindTo)
      if (request.headers['sec-fetch-mode'] === 'navigate') return reply.redirect('/app/me', 302)
      return answer
    },
  })
}
