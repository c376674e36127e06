import type { FastifyRequest } from 'fastify'
import { optionFlag, optionValue } from '#domain/options/registry.ts'
import { addressKey } from '#infra/http/address-key.ts'
import { fault } from '#infra/http/faults.ts'
import { type Claim, isFull } from '#infra/limits/port.ts'
import { allOptions } from '#projections/options/query.ts'
import type { Deps } from '../act.ts'
import { readSecretOption } from '../options/read-secret-option.ts'
import { refused } from '../refusals.ts'
import { askProvider } from './ask-provider.ts'
import { confirmed } from './confirmed.ts'
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
export async function weChatProfile(
  deps: Deps,
  request: FastifyRequest,
  code: string,
): Promise<Profile> {
  const { core } = deps
  const { values, secretRefs } = await allOptions(core.db)
  if (!optionFlag(values, 'WeChatAuthEnabled')) throw refused('WayInClosed', { provider: 'wechat' })
  const server = optionValue(values, 'WeChatServerAddress').replace(/\/+$/, '')
  if (server === '') throw refused('OAuthNotSetUp', { provider: 'wechat' })
  const token = await readSecretOption(core, secretRefs, 'WeChatServerToken')
  const permit = await takeTry(deps, request)
  const url = `${server}/api/wechat/user?${new URLSearchParams({ code: code.trim() })}`
  const answer = await confirmed(deps, 'wechat', async () => {
    const said = await askProvider(deps.outbound, url, { headers: { authorization: token } })
    if (typeof said.success !== 'boolean') throw new ProviderFailed('answered something else')
    return said
  })
  const id = answer.success === true ? plainText(answer.data) : ''
  if (id === '') throw refused('WeChatCodeWrong')
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
  if (isFull(outcome)) throw fault('TooManyRequests', Math.ceil(outcome.waitMs / 1_000))
  return outcome
}
