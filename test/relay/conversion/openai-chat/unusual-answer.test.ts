import { describe, expect, it } from 'vitest'
import { convertCall } from '#relay/conversion/convert-call.ts'
import { COMPATIBLE } from '#relay/conversion/openai-chat/chat-extensions-of-provider.ts'
import { readAnswer } from '#relay/conversion/openai-chat/read-answer.ts'
import { createStreamReader } from '#relay/conversion/openai-chat/read-stream.ts'

const long = 'x'.repeat(1_000)
const deep: unknown = JSON.parse(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`)
const callWith = (id: string, args: unknown) => ({
  id,
  function: { name: 'look_up', arguments: args },
})

it('cuts the ids and the model of a complete answer', () => {
  const message = { tool_calls: [callWith(long, '{}')] }
  expect(readAnswer({ id: long, model: long, choices: [{ message }] })).toMatchObject({
    id: long.slice(0, 128),
    model: long.slice(0, 256),
    choices: [{ parts: [{ id: long.slice(0, 256) }] }],
  })
})

it('cuts the ids and the model of a stream', () => {
  const delta = { tool_calls: [callWith(long, '{}')] }
  const events = createStreamReader().read({ id: long, model: long, choices: [{ delta }] }, '')
  expect(events.slice(0, 2)).toMatchObject([
    { kind: 'start', id: long.slice(0, 128), model: long.slice(0, 256) },
    { kind: 'tool-call', id: long.slice(0, 256) },
  ])
})

it('reads no arguments that are nested too deeply to be written', () => {
  const message = { tool_calls: [callWith('x', deep)] }
  const { choices } = readAnswer({ choices: [{ message }] })
  expect(choices).toMatchObject([{ parts: [{ id: 'x', argumentsJson: '{}' }] }])
  const reader = createStreamReader()
  expect(reader.read({ id: 'a', choices: [{ delta: message }] }, '')).toHaveLength(2)
  expect(reader.finish()).toMatchObject([
    { kind: 'tool-arguments', json: '{}' },
    { kind: 'stop', stop: 'tool-calls' },
    { kind: 'end' },
  ])
})

it('reads details after a tool call whose members are nested too deeply', () => {
  const reader = createStreamReader()
  const read = (delta: object) => reader.read({ id: 'a', choices: [{ delta }] }, '')
  read({ tool_calls: [callWith('x', '{}')] })
  const detail = { type: 'reasoning.text', text: 'b', id: deep, data: deep, format: deep }
  expect(read({ reasoning_details: [detail] })).toEqual([])
  expect(reader.finish()).toMatchObject([
    { kind: 'thinking', text: 'b' },
    { kind: 'stop' },
    { kind: 'end' },
  ])
})

it('keeps the signature of a detail whose members a later detail erases', () => {
  const reader = createStreamReader()
  const delta = { reasoning_details: [{ id: 'b' }, { id: '' }] }
  reader.read({ id: 'a', choices: [{ delta }] }, '')
  expect(reader.finish()).toMatchObject([
    { kind: 'thinking-signature', part: 0, signature: '{"id":"b"}' },
    { kind: 'stop' },
    { kind: 'end' },
  ])
})

describe('an answer that a provider has interrupted', () => {
  const messages = [{ role: 'user', content: 'Hi' }]
  const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
  const callers = [
    ['chat', { messages }, '"finish_reason":"length"'],
    ['completions', { prompt: 'Hi' }, '"finish_reason":"length"'],
    ['messages', { messages, max_tokens: 9 }, '"stop_reason":"max_tokens"'],
    ['responses', { input: 'Hi' }, '"status":"incomplete"'],
    ['gemini', { contents }, '"finishReason":"OTHER"'],
  ] as const
  const target = { format: 'chat', model: 'm', outputTokensMax: 9, vendor: COMPATIBLE } as const
  const reasons = ['network_error', 'insufficient_system_resource', 'abort', 'aborted']
  const cases = callers.flatMap(([from, body, shown]) =>
    reasons.map((reason) => [reason, from, body, shown] as const),
  )
  /** The arguments of the call are cut, so the caller must not run the tool. */
  const said = { content: 'Half', tool_calls: [callWith('c', '{"city":"Par')] }
  const complete =
    /"stop_reason":"(?:end_turn|tool_use)|"STOP"|"stop"|"tool_calls"}|"completed","incomplete/

  it.each(cases)(
    'with %s is shown as incomplete to a caller of %s',
    (reason, from, body, shown) => {
      const request = Buffer.from(JSON.stringify({ model: 'm', ...body }))
      const conversion = convertCall(from, request, { model: 'm', isStream: true }, target)
      const choice = { index: 0, finish_reason: reason }
      const answer = { id: 'a', choices: [{ ...choice, message: said }] }
      const plain = `${conversion.convertAnswer(Buffer.from(JSON.stringify(answer)), 'a')}`
      const stream = conversion.createStream('a')
      const chunk = { id: 'a', choices: [{ ...choice, delta: said }] }
      const begun = `${stream.convert(Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`))}`
      for (const text of [plain, begun + stream.end(Buffer.from('data: [DONE]\n\n'))]) {
        expect(text).toContain('Half')
        expect(text).toContain(shown)
        expect(text).not.toMatch(complete)
      }
    },
  )
})
