import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { OPENAI_STREAM } from '#relay/dialects/openai-chat/stream-events.ts'
import { AnswerStart } from '#relay/pipeline/answer-start.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, KEY, onlyEnd, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

const STREAMED = { 'content-type': 'text/event-stream' }
const DONE = 'data: [DONE]\n\n'
const COMMENT = ': processing\n\n'
const dataOf = (data: object) => `data: ${JSON.stringify(data)}\n\n`
const ROLE = dataOf({ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] })
const SAID = dataOf({ choices: [{ index: 0, delta: { content: 'yes' } }] })

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.setOption('RetryTimes', '1')
})

/** Adds two channels for the model `m`, of which the second is tried if the first fails. */
const addChannels = async (type: number) => {
  await rig.setOption('ModelRatio', { m: 1 })
  for (const channelId of [2, 3]) {
    await rig.addChannel(channelId, { type, baseUrl: provider.url, models: ['m'] })
  }
}

const messages = [{ role: 'user', content: 'Hi' }]
const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
const CHAT = ['/v1/chat/completions', { model: 'm', messages, stream: true }] as const
const MESSAGES = ['/v1/messages', { model: 'm', messages, max_tokens: 5, stream: true }] as const
const GEMINI = ['/v1beta/models/m:streamGenerateContent?alt=sse', { contents }] as const

const post = (path: string, body: object) =>
  fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

const repeated = (event: string) => event.repeat(Math.ceil(200_000 / event.length))
const partsOf = (text: string) =>
  (text.match(/[\s\S]{1,9999}/g) ?? []).map((one) => Buffer.from(one))

describe('a stream that ends before its answer', () => {
  it.each([
    ['comments', 8, CHAT, repeated(COMMENT)],
    ['one comment', 8, CHAT, `${repeated(':')}\n\n`],
    ['roles', 8, CHAT, repeated(ROLE)],
    ['roles and comments', 8, CHAT, repeated(ROLE + COMMENT)],
    ['an error', 8, CHAT, dataOf({ code: 50501, message: repeated('x') })],
    ['comments', 14, MESSAGES, repeated(COMMENT)],
    ['pings', 14, MESSAGES, repeated(dataOf({ type: 'ping' }))],
    ['comments', 24, GEMINI, repeated(COMMENT)],
  ] as const)(
    'costs nothing after 200 000 bytes of %s in a channel of type %i',
    async (_, type, [path, body], events) => {
      await addChannels(type)
      provider.answers.set('*', { headers: STREAMED, pieces: partsOf(events) })
      const before = await rig.balance()
      expect((await post(path, body)).status).toBe(502)
      expect((await onlyEnd(rig)).type).toBe('CallReleased')
      expect(await rig.balance()).toBe(before)
      expect(provider.requests).toHaveLength(2)
    },
  )

  it('is charged if its answer follows 200 000 bytes of comments and roles', async () => {
    await addChannels(8)
    const pieces = partsOf(repeated(COMMENT) + ROLE + repeated(ROLE) + SAID + DONE)
    provider.answers.set('*', { headers: STREAMED, pieces })
    const { text } = await chat(rig, { model: 'm', stream: true })
    expect(text).toMatch(/"role"[\s\S]*"yes"[\s\S]*DONE/)
    expect(text.length).toBeLessThan(200_000)
    expect((await onlyEnd(rig)).data).toMatchObject({ end: 'done', usage: { output: 1 } })
  })

  it('begins with an event that is too long to be parsed', () => {
    const start = new AnswerStart({
      ...OPENAI_STREAM,
      beginsAnswer: () => {
        throw new Error('the event was parsed')
      },
    })
    expect(start.holds(Buffer.from(`data: {"choices":[${'{},'.repeat(500_000)}{}]}`))).toBe(false)
    expect(start.hasBegun).toBe(true)
  })

  it('is charged after 200 000 bytes of unknown events', async () => {
    await addChannels(8)
    provider.answers.set('*', { headers: STREAMED, pieces: partsOf(repeated(dataOf({ a: 'b' }))) })
    expect((await chat(rig, { model: 'm', stream: true })).status).toBe(200)
    expect((await onlyEnd(rig)).data).toMatchObject({ end: 'incomplete' })
  })
})

describe('an error in a vendor’s own format after a role that was sent', () => {
  const busy = dataOf({ code: 50501, message: 'System error', data: null })
  it.each([busy, busy + COMMENT + DONE])('reaches the caller in its format: %o', async (events) => {
    await addChannels(8)
    const begun = Promise.withResolvers<void>()
    const pieces = [Buffer.from(ROLE), Buffer.from(events)]
    provider.answers.set('*', { headers: STREAMED, pieces, pause: begun.promise })
    const before = await rig.balance()
    const response = await post(...CHAT)
    begun.resolve()
    const text = await response.text()
    expect([response.status, text]).toEqual([200, expect.stringContaining('data: {"error":')])
    expect(text).toContain('System error')
    expect(text).not.toContain('"data":null')
    expect(text).not.toContain('[DONE]')
    expect((await onlyEnd(rig)).data).toMatchObject({ end: 'upstream-error', charge: 0 })
    expect(await rig.balance()).toBe(before)
  })
})

describe('a stream that is cut after its usage', () => {
  const USED = { prompt_tokens: 7, completion_tokens: 400 }
  const usageEvent = (usage: object) => dataOf({ id: 'g', choices: [], usage })
  const CALLS = [
    [...CHAT, ROLE + usageEvent(USED)],
    [...CHAT, usageEvent(USED)],
    [...MESSAGES, ROLE + usageEvent(USED)],
    [...GEMINI, ROLE + usageEvent(USED)],
  ] as const
  const sendAt = async (path: string, body: object, events: string) => {
    await addChannels(8)
    provider.answers.set('*', { headers: STREAMED, pieces: [Buffer.from(events)] })
    return (await post(path, body)).status
  }

  it.each(CALLS)(
    'is charged by the output it reported, and is not repeated: %s %o %o',
    async (path, body, events) => {
      expect(await sendAt(path, body, events)).toBe(502)
      expect(provider.requests).toHaveLength(1)
      expect((await onlyEnd(rig)).data).toMatchObject({ usage: { inputUncached: 7, output: 400 } })
    },
  )

  it.each([
    ['it reported only its input', usageEvent({ ...USED, completion_tokens: 0 })],
    ['an error follows', usageEvent(USED) + dataOf({ error: { message: 'overloaded' } })],
  ])('costs nothing if %s', async (_, events) => {
    const before = await rig.balance()
    expect(await sendAt(...CHAT, ROLE + events)).toBe(502)
    expect([provider.requests.length, await rig.balance()]).toEqual([2, before])
  })
})
