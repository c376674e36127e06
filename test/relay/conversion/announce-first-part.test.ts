import { expect, it } from 'vitest'
import { MESSAGES_CONVERSION } from '#relay/conversion/anthropic-messages/messages-conversion.ts'
import { createStreamWriter } from '#relay/conversion/openai-chat/write-stream.ts'
import { RESPONSES_CONVERSION } from '#relay/conversion/openai-responses/responses-conversion.ts'

const ANNOUNCED = { kind: 'part-begun', choice: 0 }
const block = (index: number, content_block: object) => ({
  ...{ type: 'content_block_start', index, content_block },
})
const item = (output_index: number, added: object) => ({
  ...{ type: 'response.output_item.added', output_index, item: added },
})
const MESSAGE = {
  conversion: MESSAGES_CONVERSION,
  started: { type: 'message_start', message: { id: 'a', model: 'm' } },
  thinking: block(0, { type: 'thinking', thinking: '', signature: '' }),
  text: block(1, { type: 'text', text: '' }),
  call: block(0, { type: 'tool_use', id: 'toolu_1', name: 'read', input: {} }),
}
const RESPONSE = {
  conversion: RESPONSES_CONVERSION,
  started: { type: 'response.created', response: { id: 'a', model: 'm' } },
  thinking: item(0, { id: 'rs_1', type: 'reasoning', summary: [] }),
  text: item(1, { id: 'msg_1', type: 'message', content: [] }),
  call: item(0, { id: 'fc_1', type: 'function_call', call_id: 'c', name: 'read', arguments: '' }),
}
const FORMATS = [
  ['messages', MESSAGE],
  ['responses', RESPONSE],
] as const

// Until a model begins its first part, an overload of the provider can be sent to another channel.
it.each(FORMATS)('a stream of %s announces only its first part', (_, format) => {
  const { started, thinking, text } = format
  const reader = format.conversion.createStreamReader()
  expect(reader.read(started, '')).toMatchObject([{ kind: 'start' }])
  expect(reader.read(thinking, '')).toEqual([ANNOUNCED])
  expect(reader.read(text, '')).toEqual([])
})

it('a response that has no first event starts before its first part', () => {
  const reader = RESPONSES_CONVERSION.createStreamReader()
  expect(reader.read(RESPONSE.thinking, '')).toMatchObject([{ kind: 'start' }, ANNOUNCED])
})

it.each(FORMATS)('a stream of %s does not announce a call that it contains', (_, format) => {
  const reader = format.conversion.createStreamReader()
  reader.read(format.started, '')
  expect(reader.read(format.call, '')).toMatchObject([{ kind: 'tool-call' }])
})

it('a chat gets its role when the model begins its first part, and only once', () => {
  const options = { createdAt: 1, hasStreamUsage: false, usesFunctionCall: false }
  const writer = createStreamWriter(options)
  expect(writer.write({ kind: 'start', id: 'a', model: 'm' })).toBe('')
  expect(writer.write({ kind: 'part-begun', choice: 0 })).toContain('"role":"assistant"')
  expect(writer.write({ kind: 'text', choice: 0, part: 0, text: 'a' })).not.toContain('"role"')
})
