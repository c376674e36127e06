import { expect, it } from 'vitest'
import type { ContentPart } from '#relay/canonical/canonical-request.ts'
import { readRequest } from '#relay/conversion/openai-chat/read-request.ts'
import { createStreamReader } from '#relay/conversion/openai-chat/read-stream.ts'
import { writeRequest } from '#relay/conversion/openai-chat/write-request.ts'

const COUNT = 200_000
const user = { role: 'user', content: 'hi' }

it('reads a message with any number of instructions', () => {
  const content = Array.from({ length: COUNT }, () => ({ type: 'text', text: 'a' }))
  const { value } = readRequest({ model: 'm', messages: [{ role: 'system', content }, user] })
  expect(value.system).toHaveLength(COUNT)
})

it('reads a result with any number of parts, and any number of repeated thoughts', () => {
  const texts = Array.from({ length: COUNT }, () => ({ type: 'text', text: 'a' }))
  const thoughts = Array.from({ length: 20_000 }, (_, at) => `${'x'.repeat(200)}${at}`)
  const blocks = thoughts.map((thinking) => ({ type: 'thinking', thinking, signature: 's' }))
  const details = thoughts.map((text) => ({ type: 'reasoning.text', text, signature: 's' }))
  const messages = [
    { role: 'assistant', content: blocks, reasoning_details: details },
    { role: 'tool', tool_call_id: 'a', content: texts },
  ]
  const { value } = readRequest({ model: 'm', messages })
  expect(value.messages[0]?.parts).toHaveLength(thoughts.length)
  expect(value.messages[1]?.parts).toMatchObject([{ parts: { length: COUNT } }])
})

it('writes a tool result with any number of images', () => {
  const image: ContentPart = { kind: 'image', source: { kind: 'url', url: 'https://a.b' } }
  const result: ContentPart = {
    kind: 'tool-result',
    callId: 'x',
    name: 'look_up',
    parts: Array.from({ length: COUNT }, () => image),
    isError: false,
  }
  const { value } = readRequest({ model: 'm', messages: [user] })
  const written = writeRequest({ ...value, messages: [{ role: 'user', parts: [result] }] }).value
  expect(written.messages).toMatchObject([{ role: 'tool' }, { role: 'user' }])
})

it('reads a chunk with any number of texts', () => {
  const content = Array.from({ length: COUNT }, () => ({ type: 'text', text: 'a' }))
  const events = createStreamReader().read({ id: 'x', choices: [{ delta: { content } }] }, '')
  expect(events).toHaveLength(COUNT + 1)
})

it('collects no more than 1 000 losses', () => {
  const content = Array.from({ length: 1_500 }, () => ({ type: 'unknown' }))
  const { losses } = readRequest({ model: 'm', messages: [{ role: 'user', content }] })
  expect(losses).toHaveLength(1_000)
})
