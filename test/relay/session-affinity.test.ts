import { describe, expect, it } from 'vitest'
import { offerOf } from '#domain/routing/channels-by-group-and-model.ts'
import type { SharedCache } from '#infra/redis/shared-cache.ts'
import type { ChatRequest } from '#relay/dialects/wire-format.ts'
import type { AttemptEnd } from '#relay/pipeline/attempt-end-types.ts'
import type { Caller } from '#relay/pipeline/authenticate.ts'
import { type CallSession, SessionAffinity } from '#relay/pipeline/session-affinity.ts'
import type { RelayChannel, RelayKey } from '#relay/views/channel-view.ts'

const HOUR = 3_600_000
const REQUEST = { model: 'm', body: Buffer.from('{}'), members: [] } as unknown as ChatRequest
const SERVED = { kind: 'plain', status: 200, body: Buffer.alloc(0) } as const
const failed = (status: number): AttemptEnd => ({
  ...{ kind: 'failed', status, error: 'status', body: Buffer.alloc(0), retryAfterMs: 0 },
})

const channel = (channelId: number, priority = 0) =>
  ({ channelId, terms: { priority, weight: 1 } }) as unknown as RelayChannel
const [ONE, TWO, LOW] = [channel(1, 5), channel(2, 5), channel(3, 1)]
const OFFER = offerOf([ONE, TWO, LOW])
const key = (keyRef: string) => ({ keyRef }) as unknown as RelayKey
const callerOf = (tokenId: number, pinnedChannelId: number | null = null) =>
  ({ user: { userId: 7 }, token: { tokenId }, pinnedChannelId }) as unknown as Caller

function affinity(options: { cache?: SharedCache; idleMs?: number | null } = {}) {
  const clock = { now: Date.now() }
  const { cache = null, idleMs = HOUR } = options
  const settings = { idleMs }
  const sessions = new SessionAffinity({
    vault: { keyedHash: (_, text) => text },
    cache,
    idleMs: () => settings.idleMs,
    now: () => clock.now,
  })
  const find = async (id: string, tokenId = 3): Promise<CallSession> => {
    const session = await sessions.find(callerOf(tokenId), { 'x-session-id': id }, REQUEST)
    if (session === null) throw new Error('no session')
    return session
  }
  const placeOf = async (id: string, tokenId = 3) => {
    const session = await find(id, tokenId)
    const found = session.channelIn(OFFER)
    return found === null ? null : [found.channelId, session.keyRefAt(found)]
  }
  return { clock, settings, sessions, find, placeOf }
}

/** A Redis of the test that answers at once, with its writes in order. */
function cacheOf(values = new Map<string, string>()) {
  const writes: string[] = []
  const cache: SharedCache = {
    get: async (name) => values.get(name) ?? null,
    put: (name, value, ttlMs, isKept) => {
      writes.push(`${value} ${ttlMs} ${isKept}`)
      if (isKept !== true || !values.has(name)) values.set(name, value)
    },
    remove: (name) => void values.delete(name),
  }
  return { cache, values, writes }
}

describe('the place of a session', () => {
  it('a session stays at the channel and key that served it', async () => {
    const { find, placeOf } = affinity()
    expect(await placeOf('a')).toBeNull()
    ;(await find('a')).note(TWO, key('k2'), SERVED)
    expect(await placeOf('a')).toEqual([2, 'k2'])
    expect(await placeOf('b')).toBeNull()
    expect(await placeOf('a', 4)).toBeNull()
    ;(await find('a')).note(ONE, key('k1'), SERVED)
    expect(await placeOf('a')).toEqual([1, 'k1'])
  })

  it.each([500, 429, 401, 404])('a failure with %i releases the session', async (status) => {
    const { find, placeOf } = affinity()
    ;(await find('a')).note(TWO, key('k2'), SERVED)
    ;(await find('a')).note(ONE, key('k1'), failed(status))
    ;(await find('a')).note(TWO, key('k1'), failed(status))
    expect(await placeOf('a')).toEqual([2, 'k2'])
    ;(await find('a')).note(TWO, key('k2'), failed(status))
    expect(await placeOf('a')).toBeNull()
  })

  it('a refused request and a caller that leaves change nothing', async () => {
    const { find, placeOf } = affinity()
    ;(await find('b')).note(TWO, key('k2'), failed(400))
    expect(await placeOf('b')).toBeNull()
    ;(await find('a')).note(TWO, key('k2'), SERVED)
    ;(await find('a')).note(TWO, key('k2'), failed(400))
    ;(await find('a')).note(TWO, key('k2'), {
      ...{ kind: 'streamed', status: 200, error: 'caller-gone' },
    })
    expect(await placeOf('a')).toEqual([2, 'k2'])
  })

  it('a channel that the call is not offered is never followed', async () => {
    const { find, placeOf } = affinity()
    ;(await find('a')).note(channel(9), key('k9'), SERVED)
    expect(await placeOf('a')).toBeNull()
    expect((await find('a')).keyRefAt(channel(9))).toBeNull()
  })

  it('a session leaves a channel of lower priority after the idle time', async () => {
    const { clock, find, placeOf } = affinity()
    ;(await find('low')).note(LOW, key('k'), SERVED)
    ;(await find('high')).note(ONE, key('k'), SERVED)
    expect(await placeOf('low')).toEqual([3, 'k'])
    clock.now += HOUR
    expect(await placeOf('low')).toBeNull()
    expect(await placeOf('high')).toEqual([1, 'k'])
    ;(await find('low')).note(LOW, key('k'), SERVED)
    expect(await placeOf('low')).toEqual([3, 'k'])
  })

  it('an idle session is forgotten, and none exists while the option is off', async () => {
    const { sessions, settings, find, placeOf } = affinity()
    ;(await find('a')).note(TWO, key('k2'), SERVED)
    settings.idleMs = null
    expect(sessions.find(callerOf(3), { 'x-session-id': 'a' }, REQUEST)).toBeNull()
    settings.idleMs = 0
    expect(await placeOf('a')).toBeNull()
    expect(sessions.size).toBe(0)
  })

  it('a caller that names its channel has no session', () => {
    const { sessions } = affinity()
    expect(sessions.find(callerOf(3, 1), { 'x-session-id': 'a' }, REQUEST)).toBeNull()
  })

  it('the least recently used sessions of a token are dropped, and no others', async () => {
    const { sessions, find, placeOf } = affinity()
    ;(await find('other', 4)).note(ONE, key('k'), SERVED)
    for (let n = 0; n < 8_192; n += 1) (await find(`${n}`)).note(ONE, key('k'), SERVED)
    ;(await find('0')).note(ONE, key('k'), SERVED)
    ;(await find('one more')).note(ONE, key('k'), SERVED)
    expect(await placeOf('0')).toEqual([1, 'k'])
    expect(await placeOf('1')).toBeNull()
    expect(await placeOf('other', 4)).toEqual([1, 'k'])
    expect(sessions.size).toBe(8_193)
    ;(await find('long')).note(ONE, key('k'.repeat(129)), SERVED)
    expect(await placeOf('long')).toBeNull()
  })
})

describe('places that processes share', () => {
  it('another process finds the place, and a failure removes it for all', async () => {
    const { cache, values } = cacheOf()
    const [one, other, third] = [affinity({ cache }), affinity({ cache }), affinity({ cache })]
    ;(await one.find('a')).note(TWO, key('k2'), SERVED)
    expect(await other.placeOf('a')).toEqual([2, 'k2'])
    ;(await other.find('a')).note(TWO, key('k2'), failed(500))
    expect(values.size).toBe(0)
    expect(await third.placeOf('a')).toBeNull()
  })

  it('a known session is neither looked up nor written again', async () => {
    const { cache, writes } = cacheOf()
    const { sessions, find } = affinity({ cache })
    ;(await find('a')).note(TWO, key('k2'), SERVED)
    for (let n = 0; n < 5; n += 1) (await find('a')).note(TWO, key('k2'), SERVED)
    expect(writes).toEqual([expect.stringMatching(/^2 \d+ k2 3600000 false$/)])
    const found = sessions.find(callerOf(3), { 'x-session-id': 'a' }, REQUEST)
    expect(found).not.toBeInstanceOf(Promise)
  })

  it('a token with a new id in each call writes a limited number of places', async () => {
    const { cache, writes } = cacheOf()
    const { find } = affinity({ cache })
    for (let n = 0; n < 9_000; n += 1) (await find(`${n}`)).note(ONE, key('k'), SERVED)
    expect(writes).toHaveLength(8_192)
    ;(await find('another', 4)).note(ONE, key('k'), SERVED)
    expect(writes).toHaveLength(8_193)
  })

  it.each(['', 'x', '2', '2 5', '2 5 ', '-1 5 k', '1e3 5 k', `2 5 ${'k'.repeat(129)}`])(
    'the stored text "%s" is ignored',
    async (text) => {
      const { cache } = cacheOf()
      const { placeOf } = affinity({ cache: { ...cache, get: async () => text } })
      expect(await placeOf('a')).toBeNull()
    },
  )
})

describe('a conversation that is recognized by its first message', () => {
  const list = (texts: readonly string[]) => texts.map((content) => ({ role: 'user', content }))
  const request = (...texts: string[]) => {
    const body = Buffer.from(JSON.stringify(list(['x'.repeat(5_000), ...texts])))
    const member = { key: 'messages', kind: 'array', valueStart: 0, valueEnd: body.length }
    return {
      ...{ model: 'm', body, members: [{ ...member, length: texts.length + 1 }] },
    } as unknown as ChatRequest
  }
  const find = ({ sessions }: ReturnType<typeof affinity>, asked: ChatRequest) =>
    sessions.find(callerOf(3), {}, asked) as CallSession

  it('first turns are spread, and only later turns follow the first place', () => {
    const { cache, writes } = cacheOf()
    const made = affinity({ cache })
    find(made, request()).note(ONE, key('k1'), SERVED)
    expect(find(made, request()).channelIn(OFFER)).toBeNull()
    find(made, request()).note(TWO, key('k2'), SERVED)
    const later = request('answer', 'more')
    expect(find(made, later).channelIn(OFFER)?.channelId).toBe(1)
    find(made, later).note(TWO, key('k2'), SERVED)
    expect(find(made, later).channelIn(OFFER)?.channelId).toBe(2)
    expect(writes.map((text) => text.replace(/\d{9,}/, 'since'))).toEqual([
      '1 since k1 3600000 true',
      '2 since k2 3600000 false',
    ])
  })
})
