import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { accountDecider } from '#domain/account/decide.ts'
import { accountStream } from '#domain/account/events.ts'
import type { Sealed } from '#domain/shared/event.ts'
import { tokensStream } from '#domain/token/events.ts'
import { userStream } from '#domain/user/events.ts'
import {
  chat,
  errorOf,
  onlyEnd,
  type RelayRig,
  relayRig,
  TOKEN,
  USER,
} from './support/relay-rig.ts'

let rig: RelayRig
beforeEach(async () => {
  rig = await relayRig()
})
afterEach(() => rig.close())

const ofUser = (type: 'UserDisabled' | 'UserDeleted' | 'UserErased') => () =>
  rig.append(userStream(USER), { type, v: 1, data: { userId: USER } })
const ofToken = (type: 'TokensDisabled' | 'TokensDeleted') => () =>
  rig.append(tokensStream(USER), { type, v: 1, data: { userId: USER, tokenIds: [TOKEN] } })
const terms = (change: object) => () =>
  rig.append(tokensStream(USER), {
    type: 'TokenTermsChanged',
    v: 1,
    data: {
      userId: USER,
      tokenId: TOKEN,
      terms: {
        ...{ name: 'test', expiresAt: null, group: '', models: null, allowIps: null },
        rateLimit: { isEnabled: false, periodSeconds: 60, count: 0, success: 0 },
        ...{ tokensPerMinute: 0, maxConcurrency: 0 },
        ...change,
      },
    },
  })

const WAYS: [string, string, () => Promise<void>][] = [
  ['the user is disabled', 'user_disabled', ofUser('UserDisabled')],
  ['the user is deleted', 'user_disabled', ofUser('UserDeleted')],
  ['the user is erased', 'user_disabled', ofUser('UserErased')],
  ['the token is disabled', 'token_disabled', ofToken('TokensDisabled')],
  ['the token is deleted', 'invalid_key', ofToken('TokensDeleted')],
  ['the token expires', 'token_expired', terms({ expiresAt: 1 })],
  ['its addresses change', 'ip_not_allowed', terms({ allowIps: '10.0.0.0/8' as Sealed })],
]

const emptyAccount = async () => {
  const context = { actor: 'user:1', cause: null, at: Date.now() }
  const taken = { userId: USER, deductionId: 'all', amount: await rig.balance() }
  const command = { type: 'DeductQuota', ...taken, reason: 'admin' } as const
  await rig.core.actors.handle(accountDecider, accountStream(USER), command, context)
}

describe('a running stream', () => {
  it.each(WAYS)('ends within 5 s once %s, charged for its part', async (_name, code, revoke) => {
    // Twenty words, in 8 s: the provider is still in the middle when access is revoked.
    rig.provider.script.push({ kind: 'slow', msPerChunk: 400 })
    setTimeout(() => void revoke(), 400)
    const startedAt = performance.now()
    const { text } = await chat(rig, { stream: true, max_tokens: 400 })
    expect(performance.now() - startedAt).toBeLessThan(5_400)
    const events = text.split('\n\n').filter((event) => event !== '')
    const last = JSON.parse((events.at(-1) ?? '').slice('data: '.length))
    expect(last.error.code).toBe(code)
    const { data } = await onlyEnd(rig)
    expect(data).toMatchObject({ end: 'incomplete', endReason: code, usageSource: 'partial' })
    expect('usage' in data && data.usage.output).toBeGreaterThan(0)
    expect('usage' in data && data.usage.inputUncached).toBeGreaterThan(0)
    expect('charge' in data && data.charge).toBeGreaterThan(0)
    await expect.poll(() => rig.provider.journal.entries[0]?.outcome).toBe('caller-gone')
  })

  it('ends within 5 s once an admin took all that was left, charged for its part', async () => {
    rig.provider.script.push({ kind: 'slow', msPerChunk: 400 })
    setTimeout(() => void emptyAccount(), 400)
    const startedAt = performance.now()
    const { text } = await chat(rig, { stream: true, max_tokens: 400 })
    expect(performance.now() - startedAt).toBeLessThan(5_400)
    expect(text).toContain('balance_spent')
    const { data } = await onlyEnd(rig)
    expect(data).toMatchObject({ end: 'incomplete', usageSource: 'partial' })
    expect('charge' in data && data.charge).toBeGreaterThan(0)
  })

  it('goes on while its user is moved to another group, and other tokens change', async () => {
    rig.provider.script.push({ kind: 'slow', msPerChunk: 100 })
    await rig.addToken(9, USER, 'Z'.repeat(48))
    setTimeout(() => {
      const data = { userId: USER, group: 'vip' }
      void rig.append(userStream(USER), { type: 'UserGroupChanged', v: 1, data })
      const gone = { userId: USER, tokenIds: [9] }
      void rig.append(tokensStream(USER), { type: 'TokensDisabled', v: 1, data: gone })
    }, 300)
    expect((await chat(rig, { stream: true, max_tokens: 20 })).text).toContain('[DONE]')
    expect((await onlyEnd(rig)).data).not.toHaveProperty('endReason')
  })
})

it('a plain call that waits for its provider ends with the reason, and costs nothing', async () => {
  rig.provider.script.push({ kind: 'stall', at: 'before-headers' })
  setTimeout(() => void ofUser('UserDisabled')(), 300)
  const answer = await chat(rig)
  expect(errorOf(answer).code).toBe('user_disabled')
  expect(answer.status).toBe(403)
  expect(await onlyEnd(rig)).toMatchObject({
    type: 'CallReleased',
    data: { errorCode: 'user_disabled', reason: 'incomplete' },
  })
})
