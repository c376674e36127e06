import { describe, expect, it } from 'vitest'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, errorOf, KEY, relayRig, TOKEN, USER } from './support/relay-rig.ts'

const rig = startedForEach(relayRig)

/** A token for about every word, and five bytes and more for each. */
const words = (count: number, headers = {}) =>
  chat(rig, { messages: [{ role: 'user', content: 'hello '.repeat(count) }] }, headers)

const usedChannels = async () =>
  (await rig.callEvents()).flatMap(({ type, data }) =>
    type === 'CallSettled' && 'channelId' in data ? [data.channelId] : [],
  )

/**
 * Waits until channel 2 gets a call that must be counted. Before that, the thread that counts may
 * take longer to start than a call waits for its count.
 */
const waitForCounts = () =>
  expect
    .poll(async () => {
      await words(150)
      return (await usedChannels()).at(-1)
    })
    .toBe(2)

describe('a channel with a limit on input tokens', () => {
  it('the channel gets the calls within its limit, and the next one the longer calls', async () => {
    await rig.addChannel(2, { priority: 9, maxInputTokens: 200 })
    await waitForCounts()
    for (const count of [1, 150, 300, 3_000]) expect((await words(count)).status).toBe(200)
    expect((await usedChannels()).slice(-4)).toEqual([2, 2, 1, 1])
  })

  it('a longer call does not retry on the channel either', async () => {
    await rig.setOption('RetryTimes', '3')
    await rig.addChannel(2, { maxInputTokens: 200 })
    rig.provider.script.push({ kind: 'status', status: 503 })
    expect((await words(300)).status).toBe(503)
    expect(rig.provider.journal.entries).toHaveLength(1)
  })

  it('a call too long for all channels gets a 400 with the limit and makes no hold', async () => {
    await rig.append('channels', { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
    await rig.addChannel(2, { maxInputTokens: 200 })
    await rig.addChannel(3, { maxInputTokens: 250 })
    await rig.addChannel(4, { expiredTime: 1_000 })
    const answer = await words(300)
    expect([answer.status, errorOf(answer)]).toMatchObject([
      400,
      { code: 'context_length_exceeded', param: 'messages' },
    ])
    expect(errorOf(answer).message).toContain('250')
    expect(errorOf(await words(300, { 'accept-language': 'zh' })).message).toContain('最大上下文')
    expect(await rig.callEvents()).toEqual([])
    expect(rig.provider.journal.entries).toEqual([])
    expect((await words(240)).status).toBe(200)
    expect(await usedChannels()).toEqual([3])
  })

  it('a completion too long for all channels gets a 400 that names its prompt', async () => {
    await rig.append('channels', { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
    await rig.addChannel(2, { maxInputTokens: 200 })
    const response = await fetch(`${rig.url}/v1/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sim-small', prompt: 'hello '.repeat(3_000) }),
    })
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { error: { code: 'context_length_exceeded', param: 'prompt' } },
    ])
  })

  it('a refused call leaves its Idempotency-Key free', async () => {
    await rig.append('channels', { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
    await rig.addChannel(2, { maxInputTokens: 200 })
    const headers = { 'idempotency-key': 'once' }
    expect((await words(300, headers)).status).toBe(400)
    expect((await words(100, headers)).status).toBe(200)
  })

  it('an account that could not pay gets a 402 before the limit is checked', async () => {
    await rig.append('channels', { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
    await rig.addChannel(2, { maxInputTokens: 200 })
    const key = `${KEY.slice(1)}0`
    await rig.addUser(USER + 1)
    await rig.addToken(TOKEN + 1, USER + 1, key)
    const answer = await words(300, { authorization: `Bearer sk-${key}` })
    expect([answer.status, errorOf(answer).code]).toEqual([402, 'insufficient_quota'])
    expect(await rig.callEvents(USER + 1)).toEqual([])
  })
})
