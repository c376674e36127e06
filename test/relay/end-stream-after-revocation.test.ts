import type { ServerResponse } from 'node:http'
import { describe, expect, it, type TestContext } from 'vitest'
import { accountDecider } from '#domain/accounts/decide.ts'
import { accountStream } from '#domain/accounts/events.ts'
import type { Sealed } from '#domain/shared/event.ts'
import { tokensStream } from '#domain/tokens/events.ts'
import { userStream } from '#domain/users/events.ts'
import type { Deadlines } from '#relay/pipeline/call-deadlines-and-timer.ts'
import { sendChat } from '#test/support/send-chat.ts'
import { serve } from '#test/support/start-http-server.ts'
import { startStopwatch } from '#test/support/time-limit.ts'
import {
  chat,
  errorOf,
  KEY,
  onlyEnd,
  type RelayRig,
  relayRig,
  TOKEN,
  USER,
} from './support/relay-rig.ts'

type Finishing = Pick<TestContext, 'onTestFinished'>

/** Starts a relay for one test. The tests run at once, because they wait most of their time. */
async function startRig(
  { onTestFinished }: Finishing,
  deadlines: Partial<Deadlines> = { readOnPlainMs: 3_000, readOnStreamMs: 3_000 },
): Promise<RelayRig> {
  const rig = await relayRig({ deadlines })
  onTestFinished(() => rig.close())
  return rig
}

type Revoke = (rig: RelayRig) => Promise<void>

const ofUser = (type: 'UserDisabled' | 'UserDeleted' | 'UserErased') => (rig: RelayRig) =>
  rig.append(userStream(USER), { type, v: 1, data: { userId: USER } })
const ofToken = (type: 'TokensDisabled' | 'TokensDeleted') => (rig: RelayRig) =>
  rig.append(tokensStream(USER), { type, v: 1, data: { userId: USER, tokenIds: [TOKEN] } })
const terms = (change: object) => (rig: RelayRig) =>
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

/** The owner, who read the budget before the call, sets it to less than the call holds. */
const leaveLessThanHeld: Revoke = async (rig) => {
  const context = { actor: `user:${USER}`, cause: null, at: Date.now() }
  const edit = { expected: 0n, edits: 1, remain: 10n, isUnlimited: false }
  const command = { type: 'SetTokenBudget', userId: USER, tokenId: TOKEN, ...edit } as const
  const outcome = await rig.core.actors.handle(
    accountDecider,
    accountStream(USER),
    command,
    context,
  )
  if (!outcome.isDone) throw new Error(outcome.error.code)
}

const WAYS: [string, string, Revoke][] = [
  ['the user is disabled', 'user_disabled', ofUser('UserDisabled')],
  ['the user is deleted', 'user_disabled', ofUser('UserDeleted')],
  ['the user is erased', 'user_disabled', ofUser('UserErased')],
  ['the token is disabled', 'token_disabled', ofToken('TokensDisabled')],
  ['the token is deleted', 'invalid_key', ofToken('TokensDeleted')],
  ['the token expires', 'token_expired', terms({ expiresAt: 1 })],
  ['its addresses change', 'ip_not_allowed', terms({ allowIps: '10.0.0.0/8' as Sealed })],
  ['its budget is set to 0', 'token_exhausted', (rig) => rig.setBudget(USER, TOKEN, 0n)],
  ['its budget is set to less', 'token_exhausted', (rig) => rig.setBudget(USER, TOKEN, -1n)],
  ['its budget is less than the call holds', 'token_exhausted', leaveLessThanHeld],
  ['its group is deleted', 'group_not_allowed', (rig) => rig.setOption('GroupRatio', { vip: 1 })],
]

const emptyAccount: Revoke = async (rig) => {
  const context = { actor: 'user:1', cause: null, at: Date.now() }
  const taken = { userId: USER, deductionId: 'all', amount: await rig.balance() }
  const command = { type: 'DeductQuota', ...taken, reason: 'admin' } as const
  await rig.core.actors.handle(accountDecider, accountStream(USER), command, context)
}

/**
 * Opens a stream, revokes its access after its first words, and expects it to end within 5 s.
 * Returns the text of the stream.
 */
async function streamUntilRevoked(rig: RelayRig, revoke: Revoke): Promise<string> {
  // Twenty words, in 8 s: the provider is still in the middle when access is revoked.
  rig.provider.script.push({ kind: 'slow', msPerChunk: 400 })
  const { body } = await sendChat(rig.url, `sk-${KEY}`, { stream: true, max_tokens: 400 })
  let text = ''
  let elapsedMs: (() => number) | null = null
  for await (const part of body ?? []) {
    text += Buffer.from(part).toString('utf8')
    if (elapsedMs !== null || !/"content":"[^"]/.test(text)) continue
    await revoke(rig)
    elapsedMs = startStopwatch()
  }
  expect(elapsedMs?.()).toBeLessThan(5_000)
  return text
}

describe.concurrent('a running stream', () => {
  it.for(WAYS)(
    'the stream ends within 5 s once %s, and its part is charged',
    async ([, code, revoke], test) => {
      const { expect } = test
      const rig = await startRig(test)
      const text = await streamUntilRevoked(rig, revoke)
      const events = text.split('\n\n').filter((event) => event !== '')
      const last = JSON.parse((events.at(-1) ?? '').slice('data: '.length))
      expect(last.error.code).toBe(code)
      const { data } = await onlyEnd(rig)
      expect(data).toMatchObject({ end: 'incomplete', endReason: code, usageSource: 'partial' })
      expect('usage' in data && data.usage.output).toBeGreaterThan(0)
      expect('usage' in data && data.usage.inputUncached).toBeGreaterThan(0)
      expect('charge' in data && data.charge).toBeGreaterThan(0)
      await expect.poll(() => rig.provider.journal.entries[0]?.outcome).toBe('caller-gone')
    },
  )

  it('the stream ends within 5 s once the group of its token is closed to users', async (test) => {
    const { expect } = test
    const rig = await startRig(test)
    await rig.setOption('GroupRatio', { default: 1, vip: 1 })
    await rig.setOption('UserUsableGroups', { default: '', vip: '' })
    await rig.addChannel(2, { groups: ['vip'] })
    await terms({ group: 'vip' })(rig)
    const text = await streamUntilRevoked(rig, async () => {
      await rig.setOption('UserUsableGroups', { default: '' })
    })
    expect(text).toContain("The group 'vip' is not available")
    const { data } = await onlyEnd(rig)
    const reason = { end: 'incomplete', endReason: 'group_not_allowed' }
    expect(data).toMatchObject({ group: 'vip', ...reason, usageSource: 'partial' })
    expect('charge' in data && data.charge).toBeGreaterThan(0)
  })

  it('the stream ends within 5 s once an admin deducts the whole balance', async (test) => {
    const { expect } = test
    const rig = await startRig(test)
    const text = await streamUntilRevoked(rig, emptyAccount)
    expect(text).toContain('balance_spent')
    const { data } = await onlyEnd(rig)
    expect(data).toMatchObject({ end: 'incomplete', endReason: 'balance_spent' })
    expect('charge' in data && data.charge).toBeGreaterThan(0)
  })

  it('a stream with a silent provider ends within 5 s once the balance is gone', async (test) => {
    const { expect } = test
    const rig = await startRig(test, { progressMs: 100 })
    rig.provider.script.push({ kind: 'stall', at: 'mid-stream' })
    const answer = chat(rig, { stream: true, max_tokens: 400 })
    const events = async () => (await rig.callEvents()).map(({ type }) => type)
    await expect.poll(events).toContain('CallProgressed')
    await emptyAccount(rig)
    const emptiedAt = performance.now()
    const { text } = await answer
    expect(performance.now() - emptiedAt).toBeLessThan(5_000)
    expect(text).toContain('balance_spent')
    const { data } = await onlyEnd(rig)
    expect(data).toMatchObject({ end: 'incomplete', usageSource: 'partial' })
    expect(data.attempts).toMatchObject([{ error: 'balance-spent' }])
  })

  it('a free stream continues whatever the balance and the budget', async (test) => {
    const { expect } = test
    const rig = await startRig(test, { progressMs: 100 })
    await rig.setOption('ModelRatio', { 'sim-small': 0 })
    rig.provider.script.push({ kind: 'slow', msPerChunk: 800 })
    const call = chat(rig, { stream: true, max_tokens: 4 })
    await expect.poll(() => rig.provider.journal.count).toBe(1)
    await emptyAccount(rig)
    await rig.setBudget(USER, TOKEN, 0n)
    expect((await call).text).toContain('[DONE]')
    const types = (await rig.callEvents()).map(({ type }) => type)
    expect(types.filter((type) => type === 'CallProgressed').length).toBeGreaterThan(1)
    expect((await onlyEnd(rig)).data).not.toHaveProperty('endReason')
  })

  it('a later stream continues on the quota that an ended one has returned', async (test) => {
    const { expect } = test
    const rig = await startRig(test)
    rig.provider.script.push({ kind: 'slow', msPerChunk: 400 })
    const first = chat(rig, { stream: true, max_tokens: 400 })
    await expect.poll(() => rig.provider.journal.count).toBe(1)
    await emptyAccount(rig)
    expect((await first).text).toContain('balance_spent')
    rig.provider.script.push({ kind: 'slow', msPerChunk: 800 })
    const second = await chat(rig, { stream: true, max_tokens: 4 })
    expect(second.text).toContain('[DONE]')
  })

  it('the stream continues while its user changes group and other tokens change', async (test) => {
    const { expect } = test
    const rig = await startRig(test)
    rig.provider.script.push({ kind: 'slow', msPerChunk: 100 })
    await rig.addToken(9, USER, 'Z'.repeat(48))
    const call = chat(rig, { stream: true, max_tokens: 20 })
    await expect.poll(() => rig.provider.journal.count).toBe(1)
    const data = { userId: USER, group: 'vip' }
    await rig.append(userStream(USER), { type: 'UserGroupChanged', v: 1, data })
    const gone = { userId: USER, tokenIds: [9] }
    await rig.append(tokensStream(USER), { type: 'TokensDisabled', v: 1, data: gone })
    expect((await call).text).toContain('[DONE]')
    expect((await onlyEnd(rig)).data).not.toHaveProperty('endReason')
  })
})

describe.concurrent('a plain call that waits for its provider', () => {
  const USAGE = { prompt_tokens: 700, completion_tokens: 20_000 }
  const SETTLED = 700 + 20_000 * 3

  it.for([
    ['the user is disabled', 'user_disabled', 403, ofUser('UserDisabled')],
    ['an admin took all that was left', 'balance_spent', 402, emptyAccount],
  ] as const)(
    'the call ends within 5 s once %s, and is charged its input',
    async ([, code, status, revoke], test) => {
      const { expect } = test
      const rig = await startRig(test)
      rig.provider.script.push({ kind: 'stall', at: 'before-headers' })
      const answering = chat(rig)
      await expect.poll(() => rig.provider.journal.count).toBe(1)
      await revoke(rig)
      const revokedAt = performance.now()
      const answer = await answering
      expect(performance.now() - revokedAt).toBeLessThan(5_000)
      expect([answer.status, errorOf(answer).code]).toEqual([status, code])
      const { data } = await theEnd(test, rig)
      expect(data).toMatchObject({ end: 'incomplete', endReason: code, usage: { output: 0 } })
      expect('usage' in data && data.usage.inputUncached).toBeGreaterThan(0)
      expect('charge' in data && data.charge).toBeGreaterThan(0)
      await expect.poll(() => rig.provider.journal.entries[0]?.outcome).toBe('caller-gone')
    },
  )

  it('the call is charged the usage of an answer after its token was disabled', async (test) => {
    const { expect } = test
    const rig = await startRig(test)
    await scripted(rig, test, async (response) => {
      await ofToken('TokensDisabled')(rig)
      await pause(2_500)
      response.writeHead(200, { 'content-type': 'application/json' })
      const choices = [{ index: 0, message: { content: 'short' }, finish_reason: 'stop' }]
      response.end(JSON.stringify({ choices, usage: USAGE }))
    })
    expect(errorOf(await chat(rig, { model: 'scripted' })).code).toBe('token_disabled')
    expect((await theEnd(test, rig)).data).toMatchObject({
      ...{ end: 'incomplete', endReason: 'token_disabled', usageSource: 'upstream' },
      charge: SETTLED,
    })
  })

  it('the call costs nothing if the provider refuses it after that', async (test) => {
    const { expect } = test
    const rig = await startRig(test)
    await scripted(rig, test, async (response) => {
      await ofToken('TokensDisabled')(rig)
      await pause(2_000)
      response.writeHead(500).end('{}')
    })
    expect(errorOf(await chat(rig, { model: 'scripted' })).code).toBe('token_disabled')
    expect(await theEnd(test, rig)).toMatchObject({
      type: 'CallReleased',
      data: { errorCode: 'token_disabled', attempts: [{ status: 500 }] },
    })
  })
})

describe.concurrent('a stream that waits only for its usage when its token is disabled', () => {
  const finished = async (response: ServerResponse): Promise<void> => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const choices = [{ index: 0, delta: { content: 'Yes' }, finish_reason: 'stop' }]
    response.write(`data: ${JSON.stringify({ choices })}\n\n`)
    await pause(2_500)
    const usage = { prompt_tokens: 4_000, completion_tokens: 50_000 }
    response.end(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`)
  }
  const open = (rig: RelayRig, signal: AbortSignal) =>
    fetch(`${rig.url}/v1/chat/completions`, {
      method: 'POST',
      signal,
      headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'scripted', stream: true, messages: MESSAGES }),
    })
  const BY_USAGE = { usageSource: 'upstream', charge: 4_000 + 50_000 * 3 }

  it('the stream is charged that usage though its caller has left', async (test) => {
    const { expect } = test
    const rig = await startRig(test)
    await scripted(rig, test, finished)
    const leaving = new AbortController()
    const { body } = await open(rig, leaving.signal)
    for await (const part of body ?? []) if (Buffer.from(part).includes('stop')) break
    leaving.abort()
    await ofToken('TokensDisabled')(rig)
    expect((await theEnd(test, rig)).data).toMatchObject({ end: 'client-gone', ...BY_USAGE })
  })

  it('the stream ends with the reason at once and is charged that usage', async (test) => {
    const { expect } = test
    const rig = await startRig(test)
    await scripted(rig, test, finished)
    const answer = await open(rig, new AbortController().signal)
    await ofToken('TokensDisabled')(rig)
    const text = await answer.text()
    expect(text).toContain('token_disabled')
    expect(text).not.toContain('[DONE]')
    expect(await rig.callEvents()).toHaveLength(1)
    expect((await theEnd(test, rig)).data).toMatchObject({
      ...{ end: 'incomplete', endReason: 'token_disabled', ...BY_USAGE },
    })
  })
})

const MESSAGES = [{ role: 'user', content: 'hello' }]
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const theEnd = async ({ expect }: TestContext, rig: RelayRig) => {
  await expect.poll(async () => (await rig.callEvents()).length).toBe(2)
  return onlyEnd(rig)
}

/** Adds a channel whose provider answers like this, at 1 and 3 quota a token. */
async function scripted(
  rig: RelayRig,
  { onTestFinished }: Finishing,
  send: (response: ServerResponse) => Promise<void>,
): Promise<void> {
  const provider = await serve((request, response) => {
    response.on('error', () => {})
    request.resume().on('end', () => void send(response))
  })
  onTestFinished(() => provider.close())
  await rig.addChannel(2, { baseUrl: provider.url, models: ['scripted'] })
  await rig.setOption('ModelRatio', { scripted: 1 })
  await rig.setOption('CompletionRatio', { scripted: 3 })
}
