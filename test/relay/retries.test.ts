import { beforeEach, describe, expect, it } from 'vitest'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, errorOf, KEY, onlyEnd, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const rig = startedForEach(relayRig)
/** A provider that answers 404 to each request. */
const withoutModel = startedForEach(scriptedProvider)
beforeEach(async () => {
  await rig.setOption('RetryTimes', '3')
})

const attempts = async () => (await onlyEnd(rig)).data.attempts.map(({ channelId }) => channelId)

describe('a call that fails before its first byte', () => {
  it('the call goes to the next channel by priority, keeps its hold, is billed once', async () => {
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

  it('the relay tries no channel twice and no more channels than allowed', async () => {
    for (const channelId of [2, 3, 4, 5, 6]) await rig.addChannel(channelId)
    rig.provider.script.push(
      ...Array.from({ length: 9 }, () => ({ kind: 'status', status: 500 }) as const),
    )
    expect((await chat(rig)).status).toBe(500)
    const tried = await attempts()
    expect(tried).toHaveLength(4)
    expect(new Set(tried).size).toBe(4)
  })

  it('every call in a burst of twenty finds the channel that works', async () => {
    await rig.setOption('channel_health.circuit_enabled', 'false')
    await rig.addChannel(2, { priority: 9, baseUrl: 'http://127.0.0.1:1' })
    rig.provider.script.push(
      ...Array.from({ length: 20 }, () => ({ kind: 'slow', msPerChunk: 10 }) as const),
    )
    const ask = () => chat(rig, { stream: true })
    const answers = await Promise.all(Array.from({ length: 20 }, ask))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  })

  it.each([400, 410, 422])(
    'a call is not retried after a %i, which is the caller’s error',
    async (status) => {
      await rig.addChannel(2)
      rig.provider.script.push({ kind: 'status', status })
      expect((await chat(rig)).status).toBe(status)
      expect(await attempts()).toHaveLength(1)
    },
  )

  it.each([false, true])(
    'a call goes on if a provider does not have the model, stream: %s, and is billed once',
    async (stream) => {
      await rig.addChannel(2, { priority: 9 })
      rig.provider.script.push({ kind: 'status', status: 404 })
      const before = await rig.balance()
      expect((await chat(rig, { stream })).status).toBe(200)
      expect(await attempts()).toEqual([2, 1])
      const { type, data } = await onlyEnd(rig)
      if (type !== 'CallSettled') throw new Error(type)
      expect(data.attempts).toMatchObject([{ status: 404, error: 'status' }, { status: 200 }])
      expect(before - (await rig.balance())).toBe(BigInt(data.charge))
    },
  )

  it('twenty calls at once reach the channel that has the model, each billed once', async () => {
    const CALLS = 20
    await rig.setOption('channel_health.circuit_enabled', 'false')
    await rig.addChannel(2, { priority: 9, baseUrl: withoutModel.url })
    const answers = await Promise.all(Array.from({ length: CALLS }, () => chat(rig)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(withoutModel.requests).toHaveLength(CALLS)
    const ends = (await rig.callEvents()).filter(({ type }) => type !== 'CallAdmitted')
    expect(ends.map(({ type }) => type)).toEqual(answers.map(() => 'CallSettled'))
  })

  it('a fallback model answers if no provider has the model', async () => {
    await rig.append('channels', { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
    await rig.addChannel(2, { baseUrl: withoutModel.url })
    await rig.addChannel(3, { models: ['sim-other'] })
    await rig.setOption('ModelRatio', { 'sim-small': 1.25, 'sim-other': 2 })
    await rig.setOption('ModelFallbacks', { 'sim-small': ['sim-other'] })
    expect((await chat(rig)).status).toBe(200)
    expect((await onlyEnd(rig)).data).toMatchObject({ model: 'sim-other', channelId: 3 })
  })

  it('the caller gets the 404 if no provider has the model, and pays nothing', async () => {
    await rig.addChannel(2)
    const missing = { kind: 'status', status: 404 } as const
    rig.provider.script.push(missing, missing)
    const before = await rig.balance()
    expect((await chat(rig)).status).toBe(404)
    expect(await attempts()).toHaveLength(2)
    expect((await onlyEnd(rig)).type).toBe('CallReleased')
    expect(await rig.balance()).toBe(before)
  })

  it('a call is retried if the first event of a stream is an error', async () => {
    await rig.addChannel(2)
    rig.provider.script.push({ kind: 'html' })
    expect((await chat(rig, { stream: true })).status).toBe(200)
    expect(await attempts()).toHaveLength(2)
  })

  it('the relay tries only the first channel when retries are off', async () => {
    await rig.setOption('RetryTimes', '0')
    await rig.addChannel(2)
    rig.provider.script.push({ kind: 'status', status: 500 })
    expect((await chat(rig)).status).toBe(500)
    expect(await attempts()).toHaveLength(1)
  })
})

describe('a call that fails after its first byte', () => {
  it('the relay never retries the call', async () => {
    await rig.addChannel(2)
    rig.provider.script.push({ kind: 'cut', afterChunks: 2, how: 'reset' })
    const { text } = await chat(rig, { stream: true })
    expect(text).not.toContain('[DONE]')
    expect(await attempts()).toHaveLength(1)
  })
})

describe('the choice of a channel', () => {
  it('the choice follows the weights within a priority', async () => {
    await rig.addChannel(2, { priority: 1, weight: 1 })
    await rig.addChannel(3, { priority: 1, weight: 9 })
    for (let call = 0; call < 60; call += 1) await chat(rig, { max_tokens: 1 })
    const settled = (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')
    const ofThree = settled.filter(({ data }) => 'channelId' in data && data.channelId === 3)
    expect(settled).toHaveLength(60)
    expect(ofThree.length).toBeGreaterThan(40)
    expect(ofThree.length).toBeLessThan(60)
  })

  it('only admins can pin a channel, and then it is the only one tried', async () => {
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

  it('the relay answers 503 without an event if no channel is available', async () => {
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

describe('what a channel changes in a call', () => {
  it('the relay maps model names through a chain and prices the caller’s name', async () => {
    const modelMapping = JSON.stringify({ 'sim-small': 'a', a: 'b', loop: 'pool', pool: 'loop' })
    await rig.append('channels', { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
    await rig.addChannel(2, { modelMapping })
    await chat(rig)
    expect(rig.provider.journal.entries[0]?.model).toBe('b')
    expect(await onlyEnd(rig)).toMatchObject({ data: { model: 'sim-small', upstreamModel: 'b' } })
  })

  it.each([false, true])(
    'callers see the model name that they sent in answers (stream %s)',
    async (stream) => {
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
    },
  )

  it('the caller sends the channel’s prefix, and the provider does not see it', async () => {
    await rig.addChannel(2, { modelPrefix: 'eu/' })
    await rig.setOption('ModelRatio', { 'eu/sim-small': 1 })
    expect((await chat(rig, { model: 'eu/sim-small' })).status).toBe(200)
    expect(rig.provider.journal.entries[0]?.model).toBe('sim-small')
  })

  it('a prefix works for several channels, and beside a channel that spells it out', async () => {
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

  it('the channel’s overrides apply, and the hold covers them', async () => {
    await rig.append('channels', { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
    await rig.addChannel(2, { paramOverride: '{"max_tokens":4000,"stream":true}' })
    const { text } = await chat(rig, { max_tokens: 1 })
    expect(JSON.parse(text)).toMatchObject({ usage: { completion_tokens: 20 } })
    const [admitted] = await rig.callEvents()
    if (admitted?.type !== 'CallAdmitted') throw new Error('not admitted')
    expect(admitted.data.hold).toBeGreaterThan(4_000 * 4)
  })

  it('the caller sees the mapped status, and the ledger keeps the provider’s', async () => {
    await rig.append('channels', { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
    await rig.addChannel(2, { statusCodeMapping: '{"404":"500","500":200}' })
    rig.provider.script.push({ kind: 'status', status: 404 })
    expect((await chat(rig)).status).toBe(500)
    expect((await onlyEnd(rig)).data.attempts).toMatchObject([{ status: 404 }])
  })

  it('the caller sees a mapped 401 in the provider’s words', async () => {
    await rig.append('channels', { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
    await rig.addChannel(2, { statusCodeMapping: '{"401":"401"}' })
    rig.provider.script.push({ kind: 'status', status: 401 })
    const answer = await chat(rig)
    expect([answer.status, errorOf(answer).code]).toEqual([401, 'simulated'])
  })
})

describe('a channel whose key is invalid', () => {
  const isDisabled = async (channelId: number) =>
    (await rig.core.store.readStream('channels')).some(
      ({ type, data }) =>
        type === 'ChannelAutoDisabled' && 'channelId' in data && data.channelId === channelId,
    )

  it('the channel is disabled if the option is on, except the last one of a model', async () => {
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

  it('only a 400 with one of the admin’s keywords counts as an account error', async () => {
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

  it('the channel stays enabled if the option is off', async () => {
    await rig.setOption('AutomaticDisableChannelEnabled', 'false')
    await rig.addChannel(2, { priority: 9 })
    rig.provider.script.push({ kind: 'status', status: 401 })
    await chat(rig)
    expect(await isDisabled(2)).toBe(false)
  })
})
