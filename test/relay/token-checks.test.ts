import { describe, expect, it } from 'vitest'
import type { Sealed } from '#domain/shared/event.ts'
import { startedOnce } from '#test/support/started-by-hook.ts'
import { chat, errorOf, KEY, type RelayRig, relayRig, USER } from './support/relay-rig.ts'

const rig = startedOnce(() => relayRig({}, { TRUST_PROXY: '127.0.0.1' }))

let tokens = 100
/** A fresh token with these terms; calls with its key. */
async function withToken(terms: Parameters<RelayRig['addToken']>[3], userId = USER) {
  tokens += 1
  const key = `${String(tokens)}`.padEnd(48, 'k')
  await rig.addToken(tokens, userId, key, terms)
  return { tokenId: tokens, headers: { authorization: `Bearer sk-${key}` } }
}

const outcome = async (body: Record<string, unknown>, headers: Record<string, string>) => {
  const answer = await chat(rig, body, headers)
  return [answer.status, answer.status === 200 ? null : errorOf(answer).code]
}

describe('the key of a call', () => {
  it.each([
    ['wrong', { authorization: 'Bearer sk-0000000000000000' }],
    ['malformed', { authorization: 'Bearer sk-ü{}' }],
    ['empty', { authorization: 'Bearer ' }],
    ['huge', { authorization: `Bearer sk-${'x'.repeat(5_000)}` }],
  ])('a key that is %s gets a 401', async (_name, headers) => {
    expect((await outcome({}, headers as unknown as Record<string, string>))[0]).toBe(401)
  })

  it('a call without a key gets a 401 with missing_key', async () => {
    expect(await outcome({}, { authorization: 'Basic abc' })).toEqual([401, 'missing_key'])
  })

  it.each([
    ['x-api-key', { authorization: '', 'x-api-key': `sk-${KEY}` }],
    ['x-goog-api-key', { authorization: '', 'x-goog-api-key': KEY }],
    ['mj-api-secret', { authorization: '', 'mj-api-secret': `sk-${KEY}` }],
  ])('the relay accepts a key in %s', async (_name, headers) => {
    expect(await outcome({}, headers as Record<string, string>)).toEqual([200, null])
  })
})

describe('the checks of a token', () => {
  it('a disabled token is refused, works once enabled, and is unknown once deleted', async () => {
    const { tokenId, headers } = await withToken({})
    const append = (type: string) =>
      rig.append(`tokens-${USER}`, { type, v: 1, data: { userId: USER, tokenIds: [tokenId] } })
    await append('TokensDisabled')
    expect(await outcome({}, headers)).toEqual([401, 'token_disabled'])
    await append('TokensEnabled')
    expect(await outcome({}, headers)).toEqual([200, null])
    await append('TokensDeleted')
    expect(await outcome({}, headers)).toEqual([401, 'invalid_key'])
  })

  it('an expired token is refused', async () => {
    const { headers } = await withToken({ expiresAt: Math.floor(Date.now() / 1_000) - 1 })
    expect(await outcome({}, headers)).toEqual([401, 'token_expired'])
  })

  it('the token of a banned user is refused', async () => {
    await rig.addUser(20)
    await rig.grant(20, 1_000_000n)
    const { headers } = await withToken({}, 20)
    expect(await outcome({}, headers)).toEqual([200, null])
    await rig.append('user-20', {
      type: 'UserDisabled',
      v: 1,
      data: { userId: 20, authVersion: 2 },
    })
    expect(await outcome({}, headers)).toEqual([403, 'user_disabled'])
  })

  it.each([
    ['10.0.0.0/8', '10.1.2.3', true],
    ['10.0.0.0/8\n2001:db8::/32', '2001:db8::7', true],
    ['10.0.0.1', '10.0.0.2', false],
    ['2001:db8::/32', '2001:db9::1', false],
    ['no address at all', '10.0.0.1', false],
  ])('a token for the addresses %j is used from %s: %s', async (list, from, isAllowed) => {
    const { headers } = await withToken({ allowIps: list as Sealed })
    const answer = await outcome({}, { ...headers, 'x-forwarded-for': from })
    expect(answer).toEqual(isAllowed ? [200, null] : [403, 'ip_not_allowed'])
  })

  it('the relay ignores forged addresses in front of the real one', async () => {
    const { headers } = await withToken({ allowIps: '10.0.0.1' as Sealed })
    const forwarded = { 'x-forwarded-for': '10.0.0.1, 192.0.2.9' }
    expect(await outcome({}, { ...headers, ...forwarded })).toEqual([403, 'ip_not_allowed'])
  })

  it('a token for some models is refused for other models', async () => {
    const { headers } = await withToken({ models: ['other'] })
    expect(await outcome({}, headers)).toEqual([403, 'model_not_allowed'])
  })

  it('a token for a group that is closed to users is refused', async () => {
    await rig.setOption('GroupRatio', { default: 1, inner: 1 })
    const { headers } = await withToken({ group: 'inner' })
    expect(await outcome({}, headers)).toEqual([403, 'group_not_allowed'])
    await rig.setOption('UserUsableGroups', { inner: 'Inner' })
    expect(await outcome({}, headers)).toEqual([503, 'no_channel'])
  })

  it('a token whose budget is spent is refused', async () => {
    const { tokenId, headers } = await withToken({})
    await rig.setBudget(USER, tokenId, 1n)
    expect(await outcome({}, headers)).toEqual([402, 'token_exhausted'])
  })

  it('the token of a user without quota is refused', async () => {
    await rig.addUser(21)
    const { headers } = await withToken({}, 21)
    const answer = await chat(rig, {}, headers)
    expect([answer.status, errorOf(answer).code]).toEqual([402, 'insufficient_quota'])
    expect(answer.headers.get('x-should-retry')).toBe('false')
  })
})

describe('a model without a price', () => {
  it('the model is refused unless its caller accepts models without a price', async () => {
    await rig.addChannel(9, { models: ['unpriced', 'constructor', '__proto__'] })
    for (const model of ['unpriced', 'constructor', '__proto__']) {
      expect(await outcome({ model }, {})).toEqual([400, 'model_unpriced'])
    }
    await rig.append(`user-${USER}`, {
      type: 'UserSettingsChanged',
      v: 1,
      data: {
        userId: USER,
        settings: { acceptUnsetModelRatioModel: true, showIpInLogs: false },
      },
    })
    expect(await outcome({ model: 'unpriced' }, {})).toEqual([200, null])
  })
})

describe('a model that no channel has', () => {
  it('the model is unknown, priced or not; one of a disabled channel gives a 503', async () => {
    await rig.setOption('ModelRatio', { 'sim-small': 1, 'priced-only': 1 })
    for (const model of ['sim-smal', 'priced-only', 'toString', '__defineGetter__']) {
      expect(await outcome({ model }, {})).toEqual([404, 'model_not_found'])
    }
    const off = { channelIds: [1], tag: null }
    await rig.append('channels', { type: 'ChannelsDisabled', v: 1, data: off })
    expect(await outcome({}, {})).toEqual([503, 'no_channel'])
    await rig.append('channels', { type: 'ChannelsEnabled', v: 1, data: off })
    expect(await outcome({}, {})).toEqual([200, null])
  })
})

describe('error messages', () => {
  it('error messages are Chinese for callers who request Chinese', async () => {
    const headers = { authorization: 'Bearer sk-000000000000', 'accept-language': 'zh-CN,zh' }
    expect(errorOf(await chat(rig, {}, headers)).message).toBe('无效的令牌。')
  })
})
