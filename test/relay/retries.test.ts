import { beforeEach, describe, expect, it } from 'vitest'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, errorOf, KEY, onlyEnd, relayRig } from './support/relay-rig.ts'

const rig = startedForEach(relayRig)
beforeEach(async () => {
  await rig.setOption('RetryTimes', '3')
})

const attempts = async () => (await onlyEnd(rig)).data.attempts.map(({ channelId }) => channelId)

describe('a call that fails before its first byte', () => {
  it('goes to the next channel by priority, keeps its hold, and is billed once', async () => {
    await rig.addChannel(2, { priority: 5 })
    await rig.addChannel(3, { priority: 9 })
    rig.provider.script.push(
      { kind: 'status', status: 503 },
      { kind: 'cut', afterChunks: 0, how: 'reset' },
    )
    const { status } = await chat(rig, { stream: true })
    expect(status).toBe(200)
    expect(await attempts()).toEqual([3, 2, 1])
    expect((await rig.callEvents()).map(({ type }) => type)).toEqual([
      'CallAdmitted',
      'CallSettled',
    ])
    expect(await onlyEnd(rig)).toMatchObject({
      data: {
        channelId: 1,
        attempts: [{ status: 503, error: 'status' }, { error: 'cut' }, { status: 200 }],
      },
    })
  })

  it('never tries a channel twice, nor more channels than it may', async () => {
    for (const channelId of [2, 3, 4, 5, 6]) await rig.addChannel(channelId)
    rig.provider.script.push(
      ...Array.from({ length: 9 }, () => ({ kind: 'status', status: 500 }) as const),
    )
    expect((await chat(rig)).status).toBe(500)
    const tried = await attempts()
    expect(tried).toHaveLength(4)
    expect(new Set(tried).size).toBe(4)
  })

  it('in a burst of twenty finds the channel that works, all of them', async () => {
    await rig.setOption('channel_health.circuit_enabled', 'false')
    await rig.addChannel(2, { priority: 9, baseUrl: 'http://127.0.0.1:1' })
    rig.provider.script.push(
      ...Array.from({ length: 20 }, () => ({ kind: 'slow', msPerChunk: 10 }) as const),
    )
    const ask = () => chat(rig, { stream: true })
    const answers = await Promise.all(Array.from({ length: 20 }, ask))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  })

  it.each([400, 404, 422])(
    'is not tried elsewhere after a %i: it is the caller’s',
    async (status) => {
      await rig.addChannel(2)
      rig.provider.script.push({ kind: 'status', status })
      expect((await chat(rig)).status).toBe(status)
      expect(await attempts()).toHaveLength(1)
    },
  )

  it('is tried elsewhere when a stream’s first event is an error', async () => {
    await rig.addChannel(2)
    rig.provider.script.push({ kind: 'html' })
    expect((await chat(rig, { stream: true })).status).toBe(200)
    expect(await attempts()).toHaveLength(2)
  })

  it('is not tried at all beyond the first channel when retries are off', async () => {
    await rig.setOption('RetryTimes', '0')
    await rig.addChannel(2)
    rig.provider.script.push({ kind: 'status', status: 500 })
    expect((await chat(rig)).status).toBe(500)
    expect(await attempts()).toHaveLength(1)
  })
})

describe('a call that fails after its first byte', () => {
  it('is never tried again', async () => {
    await rig.addChannel(2)
    rig.provider.script.push({ kind: 'cut', afterChunks: 2, how: 'reset' })
    const { text } = await chat(rig, { stream: true })
    expect(text).not.toContain('[DONE]')
    expect(await attempts()).toHaveLength(1)
  })
})

describe('which channel', () => {
  it('follows the weights inside a priority', async () => {
    await rig.addChannel(2, { priority: 1, weight: 1 })
    await rig.addChannel(3, { priority: 1, weight: 9 })
    for (let call = 0; call < 60; call += 1) await chat(rig, { max_tokens: 1 })
    const settled = (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')
    const ofThree = settled.filter(({ data }) => 'channelId' in data && data.channelId === 3)
    expect(settled).toHaveLength(60)
    expect(ofThree.length).toBeGreaterThan(40)
    expect(ofThree.length).toBeLessThan(60)
  })

  it('is the admin’s to pin, alone, and then the only one', async () => {
    const key = 'adminadminadminadminadminadminadminadminadminadm'
    await rig.addUser(8, { role: 10 })
    await rig.addToken(4, 8, key)
    await rig.grant(8, 1_000_000n)
    await rig.addChannel(2)
    rig.provider.script.push({ kind: 'status', status: 500 })
    const pinned = await chat(rig, {}, { authorization: `Bearer sk-${key}-2` })
    expect(pinned.status).toBe(500)
    expect((await rig.callEvents(8)).at(-1)).toMatchObject({
      data: { channelId: 2, attempts: [{ channelId: 2 }] },
    })
    const refused = await chat(rig, {}, { authorization: `Bearer sk-${KEY}-2` })
    expect([refused.status, errorOf(refused).code]).toEqual([403, 'channel_not_allowed'])
  })

  it('is none: 503, and no event', async () => {
    await rig.append('channels', {
      type: 'ChannelsDisabled',
      v: 1,
      data: { channelIds: [1], tag: null },
    })
    const answer = await chat(rig)
    expect([answer.status, errorOf(answer).code]).toEqual([503, 'no_channel'])
    expect(await rig.callEvents()).toEqual([])
  })
})

describe('what a channel changes', () => {
  it('model names: mapped through a chain, priced as the caller named it', async () => {
    const modelMapping = JSON.stringify({ 'sim-small': 'a', a: 'b', loop: 'pool', pool: 'loop' })
    await rig.append('channels', { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
    await rig.addChannel(2, { modelMapping })
    await chat(rig)
    expect(rig.provider.journal.entries[0]?.model).toBe('b')
    expect(await onlyEnd(rig)).toMatchObject({ data: { model: 'sim-small', upstreamModel: 'b' } })
  })

  it.each([false, true])('model names back in what callers see (stream %s)', async (stream) => {
    await rig.append('channels', { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
    await rig.addChannel(2, { modelMapping: '{"sim-small":"the-provider-name"}' })
    const { text, status } = await chat(rig, {
      stream,
      stream_options: stream ? { include_usage: true } : null,
    })
    expect(status).toBe(200)
    expect(rig.provider.journal.entries[0]?.model).toBe('the-provider-name')
    expect(text).not.toContain('the-provider-name')
    const events = stream ? text.split('\n\n').filter((one) => one.startsWith('data: {')) : [text]
    expect(events.length).toBeGreaterThan(stream ? 3 : 0)
    for (const event of events) {
      expect(JSON.parse(event.replace(/^data: /, ''))).toMatchObject({ model: 'sim-small' })
    }
  })

  it('a prefix, which callers say and the provider does not see', async () => {
    await rig.addChannel(2, { modelPrefix: 'eu/' })
    await rig.setOption('ModelRatio', { 'eu/sim-small': 1 })
    expect((await chat(rig, { model: 'eu/sim-small' })).status).toBe(200)
    expect(rig.provider.journal.entries[0]?.model).toBe('sim-small')
  })

  it('a prefix that several channels share, and one that spells it out', async () => {
    await rig.addChannel(2, { modelPrefix: 'eu/' })
    await rig.addChannel(3, { modelPrefix: 'eu/', priority: 1 })
    await rig.addChannel(4, { models: ['eu/sim-small'], priority: 2 })
    await rig.setOption('ModelRatio', { 'eu/sim-small': 1 })
    expect((await chat(rig, { model: 'eu/sim-small' })).status).toBe(200)
    expect(await onlyEnd(rig)).toMatchObject({ data: { channelId: 4 } })
    await rig.append('channels', {
      type: 'ChannelsDisabled',
      v: 1,
      data: { channelIds: [4], tag: null },
    })
    expect((await chat(rig, { model: 'eu/sim-small' })).status).toBe(200)
    const ends = (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')
    expect(ends.map(({ data }) => 'channelId' in data && data.channelId)).toEqual([4, 3])
  })

  it('parameters, which the hold then covers', async () => {
    await rig.append('channels', { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
    await rig.addChannel(2, { paramOverride: '{"max_tokens":4000,"stream":true}' })
    const { text } = await chat(rig, { max_tokens: 1 })
    expect(JSON.parse(text)).toMatchObject({ usage: { completion_tokens: 20 } })
    const [admitted] = await rig.callEvents()
    if (admitted?.type !== 'CallAdmitted') throw new Error('not admitted')
    expect(admitted.data.hold).toBeGreaterThan(4_000 * 4)
  })

  it('the status its caller sees, while the ledger keeps the provider’s', async () => {
    await rig.append('channels', { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
    await rig.addChannel(2, { statusCodeMapping: '{"404":"500","500":200}' })
    rig.provider.script.push({ kind: 'status', status: 404 })
    expect((await chat(rig)).status).toBe(500)
    expect((await onlyEnd(rig)).data.attempts).toMatchObject([{ status: 404 }])
  })

  it('a 401 that the admin mapped is shown as mapped, in the provider’s words', async () => {
    await rig.append('channels', { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
    await rig.addChannel(2, { statusCodeMapping: '{"401":"401"}' })
    rig.provider.script.push({ kind: 'status', status: 401 })
    const answer = await chat(rig)
    expect([answer.status, errorOf(answer).code]).toEqual([401, 'simulated'])
  })
})

describe('a channel whose key is no good', () => {
  const isDisabled = async (channelId: number) =>
    (await rig.core.store.readStream('channels')).some(
      ({ type, data }) =>
        type === 'ChannelAutoDisabled' && 'channelId' in data && data.channelId === channelId,
    )

  it('is turned off where admins asked for it, but never the last of a model', async () => {
    await rig.setOption('AutomaticDisableChannelEnabled', 'true')
    await rig.setOption('channel_health.disable_failures', '1')
    await rig.addChannel(2, { priority: 9 })
    rig.provider.script.push({ kind: 'status', status: 401 })
    expect((await chat(rig)).status).toBe(200)
    await expect.poll(() => isDisabled(2)).toBe(true)
    rig.provider.script.push({ kind: 'status', status: 401 })
    expect((await chat(rig)).status).toBe(502)
    expect(await isDisabled(1)).toBe(false)
  })

  it('says so of a 400 that an admin’s keyword is in, and of no other', async () => {
    await rig.setOption('AutomaticDisableChannelEnabled', 'true')
    await rig.setOption('AutomaticDisableKeywords', 'simulated')
    await rig.addChannel(2, { priority: 9 })
    rig.provider.script.push({ kind: 'status', status: 400 })
    await chat(rig)
    await rig.setOption('AutomaticDisableKeywords', 'other words')
    rig.provider.script.push({ kind: 'status', status: 400 })
    await chat(rig)
    const ends = (await rig.callEvents()).filter(({ type }) => type === 'CallReleased')
    const tries = ends.map(({ data }) => ('attempts' in data ? data.attempts : []))
    expect(tries).toMatchObject([[{ status: 400, isAccounts: true }], [{ status: 400 }]])
    expect(tries[1]?.[0]).not.toHaveProperty('isAccounts')
  })

  it('stays on where they did not', async () => {
    await rig.setOption('AutomaticDisableChannelEnabled', 'false')
    await rig.addChannel(2, { priority: 9 })
    rig.provider.script.push({ kind: 'status', status: 401 })
    await chat(rig)
    expect(await isDisabled(2)).toBe(false)
  })
})
