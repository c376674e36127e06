import { beforeEach, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)
const MODEL = 'gemini-2.0-flash'
/** `JSON.parse` accepts this depth, and `JSON.stringify` throws a RangeError. */
const DEPTH = 20_000
const nested = `${'{"a":'.repeat(DEPTH)}1${'}'.repeat(DEPTH)}`
/** Only the usage shows the tokens of thoughts. */
const USAGE = { promptTokenCount: 3, candidatesTokenCount: 4, thoughtsTokenCount: 900 }
const CHARGED = { usage: { inputUncached: 3, output: 904, reasoning: 900 } }
const content = `{"role":"model","parts":[{"functionCall":{"name":"f","args":${nested}}}]}`
const candidate = `{"content":${content},"finishReason":"STOP"}`
const answer = `{"candidates":[${candidate}],"usageMetadata":${JSON.stringify(USAGE)}}`

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: 24, baseUrl: provider.url, models: [MODEL] })
  await rig.setOption('ModelRatio', { [MODEL]: 1 })
  const path = `POST /v1beta/models/${MODEL}`
  const streamed = { headers: { 'content-type': 'text/event-stream' } }
  const pieces = [Buffer.from(`data: ${answer}\n\n`)]
  provider.answers.set(`${path}:streamGenerateContent`, { ...streamed, pieces })
  const whole = { headers: { 'content-type': 'application/json' } }
  provider.answers.set(`${path}:generateContent`, { ...whole, pieces: [Buffer.from(answer)] })
})

const call = (path: string, body: object) =>
  fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }]
const chat = { model: MODEL, messages: [{ role: 'user', content: 'x' }], tools }
const contents = [{ role: 'user', parts: [{ text: 'x' }] }]

it('a stream that can not be converted ends with an error, and its part is charged', async () => {
  const response = await call('/v1/chat/completions', { ...chat, stream: true })
  expect(await response.text()).toContain('"error"')
  expect((await onlyEnd(rig)).type).toBe('CallSettled')
})

it('a plain answer that can not be converted is an error, and its usage is charged', async () => {
  const response = await call('/v1/chat/completions', chat)
  expect(response.status).toBe(502)
  expect(await onlyEnd(rig)).toMatchObject({ type: 'CallSettled', data: CHARGED })
})

it.each(['streamGenerateContent?alt=sse', 'generateContent'])(
  'an answer of %s is passed unchanged and charged',
  async (method) => {
    const response = await call(`/v1beta/models/${MODEL}:${method}`, { contents })
    expect(await response.text()).toContain(nested)
    expect(await onlyEnd(rig)).toMatchObject({ type: 'CallSettled', data: CHARGED })
  },
)
