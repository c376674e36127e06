import { describe, expect, it } from 'vitest'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, errorOf, relayRig } from './support/relay-rig.ts'

const rig = startedForEach(relayRig)

const SLOW = { kind: 'slow', msPerChunk: 300 } as const
const stream = () => chat(rig, { stream: true, max_tokens: 5 })
const usedChannels = async () =>
  (await rig.callEvents()).flatMap(({ type, data }) =>
    type === 'CallSettled' && 'channelId' in data ? [data.channelId] : [],
  )

describe('a channel with limits', () => {
  it('calls go to the next channel while this one is at its concurrency limit', async () => {
    await rig.addChannel(2, { priority: 9, maxConcurrency: 1 })
    rig.provider.script.push(SLOW)
    const calls = await Promise.all([stream(), stream(), stream()])
    expect(calls.map(({ status }) => status)).toEqual([200, 200, 200])
    expect((await usedChannels()).sort()).toEqual([1, 1, 2])
    expect((await stream()).status).toBe(200)
    expect((await usedChannels()).at(-1)).toBe(2)
  })

  it('a channel with a limit on calls per minute gets exactly that many', async () => {
    await rig.addChannel(2, { priority: 9, maxRpm: 2 })
    for (let n = 0; n < 4; n += 1) expect((await chat(rig)).status).toBe(200)
    expect(await usedChannels()).toEqual([2, 2, 1, 1])
  })

  it('the relay answers 429 with Retry-After if all channels are full, at no charge', async () => {
    await rig.append('channels', { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
    await rig.addChannel(2, { maxRpm: 1 })
    expect((await chat(rig)).status).toBe(200)
    const full = await chat(rig)
    expect([full.status, errorOf(full).code]).toEqual([429, 'channels_busy'])
    expect(Number(full.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await rig.callEvents()).at(-1)).toMatchObject({
      type: 'CallReleased',
      data: { errorCode: 'channels_busy', statusCode: 429, attempts: [] },
    })
  })
})
