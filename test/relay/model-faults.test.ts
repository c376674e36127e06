import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, onlyEnd, PROVIDER_KEY, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const MODEL = 'gemini-3.5-flash'
const METHODS = `/v1beta/models/${MODEL}`
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: 24, baseUrl: provider.url, models: [MODEL] })
  await rig.setOption('ModelRatio', { [MODEL]: 1 })
  await rig.setOption('CompletionRatio', { [MODEL]: 4 })
})

const USAGE = { promptTokenCount: 100, candidatesTokenCount: 5, totalTokenCount: 105 }
const CHARGE = 100 + 5 * 4
const answerWith = (parts: readonly object[], finishReason = 'MALFORMED_FUNCTION_CALL') => ({
  candidates: [
    {
      content: { role: 'model', parts },
      finishReason,
      finishMessage: `Malformed call: ${PROVIDER_KEY}`,
    },
  ],
  usageMetadata: USAGE,
  ...{ modelVersion: MODEL, responseId: 'r1' },
})

function script(answer: object): void {
  const piece = Buffer.from(`data: ${JSON.stringify(answer)}\r\n\r\n`)
  const headers = { 'content-type': 'text/event-stream' }
  provider.answers.set(`POST ${METHODS}:generateContent`, { body: answer })
  provider.answers.set(`POST ${METHODS}:streamGenerateContent`, { headers, pieces: [piece] })
}

const messages = [{ role: 'user', content: 'Go' }]
const CALLERS = [
  ['/v1/chat/completions', { messages }],
  ['/v1/messages', { messages, max_tokens: 64 }],
  ['/v1/responses', { input: 'Go' }],
] as const

async function send(path: string, body: object) {
  const headers = { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' }
  const text = JSON.stringify(body)
  const response = await fetch(`${rig.url}${path}`, { method: 'POST', headers, body: text })
  return { status: response.status, text: await response.text() }
}

/** The end of a stream that no client takes for a complete answer. */
const FAILED = {
  '/v1/chat/completions': /^data: \{"error":/m,
  '/v1/messages': /^event: error$/m,
  '/v1/responses': /^event: response\.failed$/m,
}
const COMPLETE = /\[DONE\]|message_stop|response\.completed|"finish_reason":"/

describe.each(CALLERS)('a fault of Gemini’s model for a caller of %s', (path, request) => {
  it.each(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS'])(
    'is an error that is charged: %s',
    async (reason) => {
      script(answerWith([], reason))
      const { status, text } = await send(path, { model: MODEL, ...request })
      expect(status).toBe(502)
      expect(JSON.parse(text).error.message).toContain('Malformed call')
      expect(text).not.toContain(PROVIDER_KEY)
      const { type, data } = await onlyEnd(rig)
      expect({ type, data }).toMatchObject({
        type: 'CallSettled',
        data: { charge: CHARGE, end: 'upstream-error' },
      })
    },
  )

  it.each([
    ['nothing', []],
    ['a text', [{ text: 'I call' }]],
  ])('ends a stream after %s with an error that is charged', async (_, parts) => {
    script(answerWith(parts))
    const { status, text } = await send(path, { model: MODEL, stream: true, ...request })
    expect(status).toBe(200)
    expect(text).toMatch(FAILED[path])
    expect(text).toContain('Malformed call')
    expect(text).not.toMatch(COMPLETE)
    expect(text).not.toContain(PROVIDER_KEY)
    const { type, data } = await onlyEnd(rig)
    expect({ type, data }).toMatchObject({
      type: 'CallSettled',
      data: { charge: CHARGE, end: 'upstream-error' },
    })
  })
})

it('a fault of Gemini’s model passes to a caller of Gemini’s format', async () => {
  const { candidates, ...rest } = answerWith([])
  const answer = { candidates: [{ ...candidates[0], finishMessage: 'Malformed' }], ...rest }
  script(answer)
  const contents = [{ role: 'user', parts: [{ text: 'Go' }] }]
  const { status, text } = await send(`${METHODS}:generateContent`, { contents })
  expect(status).toBe(200)
  expect(text).toBe(JSON.stringify(answer))
  expect(await onlyEnd(rig)).toMatchObject({ type: 'CallSettled', data: { end: 'done' } })
})
