import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import Type from 'typebox'
import { optionFlag } from '#domain/options/registry.ts'
import { Done, success } from '#infra/http/envelope.ts'
import { httpError } from '#infra/http/http-errors.ts'
import { refuseNavigation } from '#infra/http/origin.ts'
import { isFull } from '#infra/limits/port.ts'
import { allOptions } from '#projections/options/query.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import type { Action, Deps } from '../action.ts'
import { LoginResult } from '../contract/login.ts'
import { TelegramQuery } from '../contract/oauth.ts'
import { readSecretOption } from '../options/read-secret-option.ts'
import { bound } from './authorize.ts'
import { loginWithIdentity } from './identity-login.ts'
import { oauthError } from './oauth-errors.ts'
import { takeState, userOf } from './oauth-state.ts'
import type { Profile } from './provider.ts'

const AGE_SECONDS_MAX = 300
/** Their clock may be ahead of ours. */
const AHEAD_SECONDS_MAX = 60

/**
 * Whom Telegram's widget names, by its signature under the bot's token (core.telegram.org/widgets/
 * login), at most five minutes old and good for one use.
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

/** Whether `lang` is of what is signed depends on the widget that was shown. */
function isSigned(query: TelegramQuery, token: string): boolean {
  const key = createHash('sha256').update(token).digest()
  return [SIGNED, [...SIGNED, 'lang'] as const].some((names) => {
    const lines = [...names]
      .sort()
      .flatMap((name) => (query[name] === undefined ? [] : [`${name}=${query[name]}`]))
    const wanted = createHmac('sha256', key).update(lines.join('\n')).digest()
    return timingSafeEqual(wanted, Buffer.from(query.hash, 'hex'))
  })
}

/** Counted over all processes: longer than what it signs is good for. */
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
 * GET /api/oauth/telegram/login: a way in by what the widget says. The console always sends the
 * state that its widget was shown with, and no browser may open this address as a page: so no
 * link can log somebody in as somebody else.
 */
export const telegramLogin: Action = (api, deps) => {
  api.get(
    '/api/oauth/telegram/login',
    {
      onRequest: async (request) => refuseNavigation(request),
      schema: {
        summary: 'Log in, or register, by Telegram’s widget',
        querystring: TelegramQuery,
        response: { 200: Envelope(LoginResult) },
      },
    },
    async (request, reply) => {
      const { state } = request.query
      const journey = state === undefined ? null : await takeState(deps, request, state, null)
      const isLogin = journey === null || (journey.bindTo === null && journey.only === undefined)
      if (!isLogin) throw oauthError('OAuthStateInvalid')
      const profile = await telegramProfile(deps, request.query)
      return success(await loginWithIdentity(deps, request, reply, profile, journey ?? { aff: '' }))
    },
  )
}

/**
 * GET /api/oauth/telegram/bind: the widget may send the browser here, which then has no `User-Id`:
 * the state in its address says for whom it was shown, and a navigation ends on the own page.
 */
export const telegramBind: Action = (api, deps) => {
  api.get(
    '/api/oauth/telegram/bind',
    {
      onRequest: async (request) => {
        if ((await userOf(request, { mayLackHeader: true })) === null)
          throw httpError('NotLoggedIn')
      },
      schema: {
        summary:
          'Bind the Telegram account that the widget names; needs the state it was shown with',
        querystring: TelegramQuery,
        response: { 200: Done, 302: Type.Null() },
      },
    },
    async (request, reply) => {
      const { state } = request.query
      if (state === undefined) throw oauthError('OAuthStateInvalid')
      const { bindTo } = await takeState(deps, request, state, null)
      if (bindTo === null) throw oauthError('OAuthStateInvalid')
      if (bindTo !== request.principal?.userId) throw httpError('NotLoggedIn')
      const profile = await telegramProfile(deps, request.query)
      const answer = await bound(deps, request, reply, profile, bindTo)
      if (request.headers['sec-fetch-mode'] === 'navigate') return reply.redirect('/app/me', 302)
      return answer
    },
  )
}
