import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { CLAIM_MS, type ClaimedCalls } from '#relay/idempotency/idempotency-claims.ts'
import { removeExpiredClaims } from '#relay/idempotency/remove-expired-claims.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { claimedCallsInMemory } from './support/in-memory-stores.ts'
import { chat, errorOf, relayRig, USER } from './support/relay-rig.ts'

const rig = startedForEach(relayRig)

const KEYED = { 'idempotency-key': 'order 17' }
const endings = async () =>
  (await rig.callEvents()).filter(({ type }) => type !== 'CallAdmitted').map(({ type }) => type)

describe('a call with an Idempotency-Key', () => {
  it.each([false, true])(
    'a repeat of a finished call is neither made nor billed again (stream %s)',
    async (stream) => {
      const first = await chat(rig, { stream }, KEYED)
      expect(first.status).toBe(200)
      const balance = await rig.balance()
      const again = await chat(rig, { stream }, KEYED)
      expect([again.status, errorOf(again).code]).toEqual([409, 'idempotency_replayed'])
      const original = first.headers.get('x-request-id')
      expect(errorOf(again).message).toContain(original)
      expect(again.headers.get('x-request-id')).not.toBe(original)
      expect(again.headers.get('x-should-retry')).toBe('false')
      // Otherwise, client libraries in a browser can't read it, and repeat the call.
      expect(again.headers.get('access-control-expose-headers')).toContain('X-Should-Retry')
      expect(rig.provider.journal.count).toBe(1)
      expect(await endings()).toEqual(['CallSettled'])
      expect(await rig.balance()).toBe(balance)
    },
  )

  it('a repeat of a running call gets a 409 in the caller’s format', async () => {
    rig.provider.script.push({ kind: 'slow', msPerChunk: 30 })
    const running = chat(rig, { stream: true, max_tokens: 10 }, KEYED)
    await expect.poll(() => rig.provider.journal.count).toBe(1)
    const again = await chat(rig, { stream: true, max_tokens: 10 }, KEYED)
    expect([again.status, errorOf(again).code]).toEqual([409, 'idempotency_in_progress'])
    expect(again.headers.get('retry-after')).toBe('2')
    const { text, headers } = await running
    expect(text).toContain('[DONE]')
    expect(errorOf(again).message).toContain(headers.get('x-request-id'))
  })

  it('fifty concurrent repeats make one call to the provider and one bill', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => chat(rig, {}, KEYED)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(49)
    expect(rig.provider.journal.count).toBe(1)
    expect((await rig.callEvents()).map(({ type }) => type)).toEqual([
      'CallAdmitted',
      'CallSettled',
    ])
  })

  it('a different request under the same key is refused', async () => {
    await chat(rig, {}, KEYED)
    const other = await chat(rig, { max_tokens: 3 }, KEYED)
    expect([other.status, errorOf(other).code]).toEqual([422, 'idempotency_key_reused'])
    expect(rig.provider.journal.count).toBe(1)
  })

  it('a claim of an older release, for the body alone, still detects a repeat', async () => {
    const claims = claimedCallsInMemory()
    const messages = [{ role: 'user', content: 'hello' }]
    const body = JSON.stringify({ model: 'sim-small', messages })
    const bodyHash = createHash('sha256').update(body).digest('hex')
    const claim: ClaimedCalls['claim'] = async (asked) => ({
      ...(await claims.claim(asked)),
      bodyHash,
    })
    const older = await relayRig({ claimedCalls: { ...claims, claim } })
    try {
      expect((await chat(older, {}, KEYED)).status).toBe(200)
      const [again, other] = [
        await chat(older, {}, KEYED),
        await chat(older, { max_tokens: 3 }, KEYED),
      ]
      expect([again.status, other.status]).toEqual([409, 422])
      expect(older.provider.journal.count).toBe(1)
    } finally {
      await older.close()
    }
  })

  it('calls of another token, with another key or without a key are independent', async () => {
    const key = 'othertokenothertokenothertokenothertokenothertok'
    await rig.addToken(4, USER, key)
    await chat(rig, {}, KEYED)
    expect((await chat(rig, {}, { ...KEYED, authorization: `Bearer sk-${key}` })).status).toBe(200)
    expect((await chat(rig, {}, { 'idempotency-key': 'order 18' })).status).toBe(200)
    expect((await chat(rig)).status).toBe(200)
    expect((await chat(rig)).status).toBe(200)
    expect(await endings()).toHaveLength(5)
  })

  it('a call that failed at no cost can be repeated', async () => {
    rig.provider.script.push({ kind: 'status', status: 500 })
    expect((await chat(rig, {}, KEYED)).status).toBe(500)
    expect((await chat(rig, {}, KEYED)).status).toBe(200)
    expect((await chat(rig, {}, KEYED)).status).toBe(409)
    expect(await endings()).toEqual(['CallReleased', 'CallSettled'])
  })

  it('a call refused for lack of quota can be made once its balance allows it', async () => {
    const key = 'pooruserpooruserpooruserpooruserpooruserpoorus'
    await rig.addUser(8)
    await rig.addToken(5, 8, key)
    const poor = { ...KEYED, authorization: `Bearer sk-${key}` }
    expect((await chat(rig, {}, poor)).status).toBe(402)
    await rig.grant(8, 1_000_000n)
    expect((await chat(rig, {}, poor)).status).toBe(200)
    expect((await chat(rig, {}, poor)).status).toBe(409)
    expect(await rig.callEvents(8)).toHaveLength(2)
  })

  it.each(['', ' ', 'x'.repeat(256), 'schlüssel'])(
    'a call with the invalid key %j is refused',
    async (key) => {
      const answer = await chat(rig, {}, { 'idempotency-key': key })
      expect([answer.status, errorOf(answer).param]).toEqual([400, 'Idempotency-Key'])
      expect(rig.provider.journal.count).toBe(0)
    },
  )
})

describe('an Idempotency-Key that was claimed a day ago', () => {
  let laterMs = 0
  const now = () => Date.now() + laterMs
  const claimedCalls = claimedCallsInMemory()
  const site = startedForEach(() => {
    laterMs = 0
    return relayRig({ claimedCalls }, {}, undefined, { now })
  })

  const sweepDeps = () => ({ actors: site.core.actors, claimedCalls, log: site.core.log })

  it('does not start a second call while the first one runs', async () => {
    // The first call outlasts all repeats, because its provider only hurries after them.
    const slow = { kind: 'slow' as const, msPerChunk: 1_000 }
    site.provider.script.push(slow)
    const running = chat(site, { stream: true, max_tokens: 20 }, KEYED)
    await expect.poll(() => site.provider.journal.count).toBe(1)
    laterMs = CLAIM_MS + 1_000
    const repeats = () =>
      Promise.all(
        Array.from({ length: 50 }, () => chat(site, { stream: true, max_tokens: 20 }, KEYED)),
      )
    const statuses = (await repeats()).map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([409]))
    await removeExpiredClaims(sweepDeps(), now())
    expect((await chat(site, { stream: true, max_tokens: 20 }, KEYED)).status).toBe(409)
    expect(site.provider.journal.count).toBe(1)
    expect(site.provider.journal.entries[0]?.outcome).toBe('open')
    slow.msPerChunk = 1
    expect((await running).text).toContain('[DONE]')
    const afterwards = (await repeats()).map(({ status }) => status)
    expect(afterwards.filter((status) => status === 200)).toHaveLength(1)
    expect(site.provider.journal.count).toBe(2)
  })

  it('is removed although another account can’t be read', async () => {
    const at = now()
    const of = { tokenId: 90, bodyHash: 'body' }
    await claimedCalls.claim({ ...of, userId: 90, keyHash: 'a', call: 'unread', at })
    await claimedCalls.claim({ ...of, userId: 91, keyHash: 'b', call: 'read', at: at + 1 })
    const { actors } = site.core
    const peek: typeof actors.peek = (decider, stream) =>
      stream.endsWith('90') ? Promise.reject(new Error('bad')) : actors.peek(decider, stream)
    laterMs = CLAIM_MS + 1_000
    await removeExpiredClaims({ ...sweepDeps(), actors: { peek } }, now())
    const left = await claimedCalls.expired(now(), { at: at - 1, call: '' }, 9)
    expect(left.map(({ call }) => call)).toEqual(['unread'])
    await claimedCalls.remove(left)
  })

  it('can be used for a new call after the claim of an ended call was removed', async () => {
    const key = { 'idempotency-key': 'order 18' }
    expect((await chat(site, {}, key)).status).toBe(200)
    await removeExpiredClaims(sweepDeps(), now())
    expect((await chat(site, {}, key)).status).toBe(409)
    laterMs = CLAIM_MS + 1_000
    await removeExpiredClaims(sweepDeps(), now())
    expect(await claimedCalls.expired(now(), null, 9)).toEqual([])
    expect((await chat(site, {}, key)).status).toBe(200)
  })
})
