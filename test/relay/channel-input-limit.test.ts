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

describe('a channel that takes so many input tokens at most', () => {
  it('gets the calls that keep to it, and the longer ones go to the next', async () => {
    await rig.addChannel(2, { priority: 9, maxInputTokens: 200 })
    await waitForCounts()
    for (const count of [1, 150, 300, 3_000]) expect((await words(count)).status).toBe(200)
    expect((await usedChannels()).slice(-4)).toEqual([2, 2, 1, 1])
  })

  it('is no retry for a longer call either', async () => {
    await rig.setOption('RetryTimes', '3')
    await rig.addChannel(2, { maxInputTokens: 200 })
    rig.provider.script.push({ kind: 'status', status: 503 })
    expect((await words(300)).status).toBe(503)
    expect(rig.provider.journal.entries).toHaveLength(1)
  })

  it('where no other is left: 400 that says how much, and neither hold nor call', async () => {
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

  it('a refused call leaves its Idempotency-Key free', async () => {
    await rig.append('channels', { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
    await rig.addChannel(2, { maxInputTokens: 200 })
    const headers = { 'idempotency-key': 'once' }
    expect((await words(300, headers)).status).toBe(400)
    expect((await words(100, headers)).status).toBe(200)
  })

  it('is not looked at for an account that could not pay: 402', async () => {
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
