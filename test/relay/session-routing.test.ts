import { pino } from 'pino'
import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { connectRedis, type RedisClient } from '#infra/redis/connect-redis.ts'
import { createSharedCache } from '#infra/redis/shared-cache.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { redisEngine, skipReason, startRedis } from '#test/support/test-redis.ts'
import { chat, type RelayRig, relayRig, USER } from './support/relay-rig.ts'

const OTHER_KEY = 'othertokenothertokenothertokenothertokenothertok'
const SESSIONS = 40

/** Channels 2 and 3 have equal chances, and are drawn before channel 1. Channel 2 has two keys. */
async function addChannels(rig: RelayRig): Promise<void> {
  const add = (channelId: number, ...keyRefs: string[]) =>
    rig.append(CHANNELS_STREAM, {
      type: 'ChannelsCreated',
      v: 1,
      data: {
        terms: { ...PLAIN_CHANNEL_TERMS, priority: 9, baseUrl: rig.provider.url },
        channels: [{ channelId, name: `channel ${channelId}`, keyRefs }],
        keyMode: 'polling',
        isEnabled: true,
      },
    })
  await add(2, 'key:sk-a', 'key:sk-b')
  await add(3, 'key:sk-c')
}

const rig = startedForEach(relayRig)
beforeEach(() => addChannels(rig))

const keysUsed = (of: RelayRig = rig) =>
  of.provider.journal.entries.map(({ authorization }) => authorization.slice(7))
/** Makes calls of a session one after the other, and returns the keys that served them. */
async function callsOf(id: string, count: number, more = {}, of: RelayRig = rig) {
  const from = keysUsed(of).length
  for (let n = 0; n < count; n += 1) {
    expect((await chat(of, {}, { 'x-session-id': id, ...more })).status).toBe(200)
  }
  return keysUsed(of).slice(from)
}
const change = (channelId: number, type: string, data: object) =>
  rig.append(CHANNELS_STREAM, { type, v: 1, data: { channelId, ...data } })
const switchChannel = (channelId: number, type: 'ChannelsEnabled' | 'ChannelsDisabled') =>
  rig.append(CHANNELS_STREAM, { type, v: 1, data: { channelIds: [channelId] } })
/** Returns a session that the key has served. */
async function sessionAt(key: string): Promise<string> {
  for (let n = 0; n < 200; n += 1) {
    const id = `session ${n} at ${key}`
    const [used] = await callsOf(id, 1)
    if (used === key) return id
  }
  throw new Error(`no session came to ${key}`)
}

describe('the calls of a session', () => {
  it('a session stays at one channel and key, and sessions are spread over all', async () => {
    const used = new Set<string>()
    for (let n = 0; n < SESSIONS; n += 1) {
      const [first = '', ...more] = await callsOf(`session ${n}`, 3)
      expect(more).toEqual([first, first])
      used.add(first)
    }
    expect([...used].sort()).toEqual(['sk-a', 'sk-b', 'sk-c'])
  })

  it('calls without a session are spread, also if they are equal and long', async () => {
    for (const content of ['short', 'long '.repeat(2_000)]) {
      const from = keysUsed().length
      for (let n = 0; n < SESSIONS; n += 1) {
        await chat(rig, { messages: [{ role: 'user', content }] })
      }
      expect(new Set(keysUsed().slice(from)).size).toBe(3)
    }
  })

  it('a long conversation without an id stays where its last turn was', async () => {
    const messages = [{ role: 'user', content: 'a long question '.repeat(400) }]
    for (let n = 0; n < 20; n += 1) {
      await chat(rig, { messages })
      messages.push({ role: 'assistant', content: 'yes' }, { role: 'user', content: 'why' })
    }
    expect(new Set(keysUsed()).size).toBe(1)
  })

  it('the same id of another token is another session', async () => {
    await rig.addToken(9, USER, OTHER_KEY)
    const other = { authorization: `Bearer sk-${OTHER_KEY}` }
    const places = new Set<string>()
    for (let n = 0; n < SESSIONS; n += 1) {
      const [own] = await callsOf(`session ${n}`, 1)
      const foreign = await callsOf(`session ${n}`, 2, other)
      expect(foreign[1]).toBe(foreign[0])
      expect(await callsOf(`session ${n}`, 1)).toEqual([own])
      places.add(`${own} ${foreign[0]}`)
    }
    expect(places.size).toBeGreaterThan(3)
  })

  it('a failure moves the session to the channel that answered', async () => {
    await rig.setOption('RetryTimes', '1')
    const id = await sessionAt('sk-c')
    rig.provider.script.push({ kind: 'status', status: 500 })
    const [failed, moved = ''] = await callsOf(id, 1)
    expect([failed, moved]).toEqual(['sk-c', expect.stringMatching(/sk-[ab]/)])
    expect(await callsOf(id, 5)).toEqual(Array(5).fill(moved))
  })

  it('a key that is limited moves the session to the other key', async () => {
    await rig.setOption('RetryTimes', '1')
    const id = await sessionAt('sk-a')
    rig.provider.script.push({ kind: 'status', status: 429, retryAfter: '60' })
    expect(await callsOf(id, 1)).toEqual(['sk-a', 'sk-b'])
    expect(await callsOf(id, 5)).toEqual(Array(5).fill('sk-b'))
  })

  it('a session leaves a key that is set aside, and a channel that is disabled', async () => {
    const id = await sessionAt('sk-a')
    await change(2, 'ChannelKeySetAside', { keyRef: 'key:sk-a', reason: 'status-401' })
    expect(await callsOf(id, 3)).toEqual(Array(3).fill('sk-b'))
    await switchChannel(2, 'ChannelsDisabled')
    expect(await callsOf(id, 3)).toEqual(Array(3).fill('sk-c'))
    await switchChannel(2, 'ChannelsEnabled')
    expect(await callsOf(id, 3)).toEqual(Array(3).fill('sk-c'))
  })

  it('a full channel does not delay the session', async () => {
    const id = await sessionAt('sk-c')
    const terms = { ...PLAIN_CHANNEL_TERMS, priority: 9, baseUrl: rig.provider.url, maxRpm: 1 }
    const keys = { keyRefs: ['key:sk-c'], keyMode: '', droppedKeyRefs: [] }
    await change(3, 'ChannelTermsChanged', { terms, ...keys })
    const used = await callsOf(id, 3)
    expect(used[0]).toBe('sk-c')
    expect(used.slice(1).join()).toMatch(/sk-[ab]/)
    expect(used.slice(1)).not.toContain('sk-c')
  })

  it('new sessions use a channel of higher priority that comes back', async () => {
    await switchChannel(2, 'ChannelsDisabled')
    await switchChannel(3, 'ChannelsDisabled')
    const id = 'began at channel 1'
    const [low = ''] = await callsOf(id, 1)
    expect(low).not.toMatch(/sk-[abc]$/)
    await switchChannel(3, 'ChannelsEnabled')
    expect(await callsOf(id, 1)).toEqual([low])
    expect(await callsOf('a new session', 1)).toEqual(['sk-c'])
  })

  it('without the option, calls of a session are spread', async () => {
    await rig.setOption('session_affinity.enabled', 'false')
    expect(new Set(await callsOf('a', SESSIONS)).size).toBe(3)
  })

  it('no event and no line of the log contains the id of a session', async () => {
    const lines: string[] = []
    const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) })
    const logged = await relayRig({}, {}, undefined, { log })
    const answer = await chat(logged, {}, { 'x-session-id': 'canary@example.org' })
    await chat(logged, { model: 'unknown' }, { 'x-session-id': 'canary@example.org' })
    const events = await logged.callEvents()
    await logged.close()
    expect(lines.length).toBeGreaterThan(3)
    const all = [lines, events, answer.text, [...answer.headers]]
    expect(JSON.stringify(all)).not.toMatch(/canary/)
  })
})

const isHere = redisEngine !== null

describe.skipIf(!isHere)(`two relays on one Redis${skipReason(isHere)}`, () => {
  const server = startedForEach(async () => {
    const redis = await startRedis()
    return { url: redis.url, close: redis.stop }
  })
  const startRelay = async (): Promise<{ other: RelayRig; client: RedisClient }> => {
    const client = await connectRedis(server.url, pino({ level: 'silent' }))
    const sharedCache = createSharedCache(client, { answerMs: 10_000 })
    const other = await relayRig({}, {}, undefined, { sharedCache })
    await addChannels(other)
    return { other, client }
  }

  it('a session stays at its key in both, and Redis knows no id', async () => {
    const [one, two] = [await startRelay(), await startRelay()]
    for (let n = 0; n < 20; n += 1) {
      const id = `canary ${n}`
      const [first] = await callsOf(id, 1, {}, one.other)
      await expect.poll(() => one.client.dbsize()).toBe(n + 1)
      expect(await callsOf(id, 2, {}, two.other)).toEqual([first, first])
    }
    const names = await one.client.keys('*')
    const values = await Promise.all(names.map((name) => one.client.get(name)))
    expect(JSON.stringify([names, values])).not.toMatch(/canary/)
    const ttls = await Promise.all(names.map((name) => one.client.pttl(name)))
    expect(Math.min(...ttls)).toBeGreaterThan(3_500_000)
    expect(Math.max(...ttls)).toBeLessThanOrEqual(3_600_000)
    for (const { other, client } of [one, two]) {
      await other.close()
      client.disconnect()
    }
  })
})
