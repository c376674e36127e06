import { expect, it } from 'vitest'
import { readAnswer } from '#relay/conversion/anthropic-messages/read-answer.ts'
import { createStreamReader } from '#relay/conversion/anthropic-messages/read-answer-stream.ts'
import { writeAnswer } from '#relay/conversion/anthropic-messages/write-answer.ts'
import { budget, threadCpuMs } from '#test/support/time-limit.ts'

const long = 'x'.repeat(1_000)
const call = { type: 'tool_use', id: long, name: 'look_up', input: {} }

it('cuts the ids and the model of a complete answer', () => {
  expect(readAnswer({ id: long, model: long, content: [call] })).toMatchObject({
    id: long.slice(0, 128),
    model: long.slice(0, 256),
    choices: [{ parts: [{ id: long.slice(0, 256) }] }],
  })
})

it('cuts the ids and the model of a stream', () => {
  const reader = createStreamReader()
  const message = { id: long, model: long }
  expect(reader.read({ type: 'message_start', message }, '')).toEqual([
    { kind: 'start', id: long.slice(0, 128), model: long.slice(0, 256) },
  ])
  const start = { type: 'content_block_start', index: 0, content_block: call }
  expect(reader.read(start, '')).toMatchObject([{ kind: 'tool-call', id: long.slice(0, 256) }])
})

it('makes up ids only for tool calls without one', () => {
  const id = '!'.repeat(5_000_000)
  const parts = Array.from({ length: 128 }, () => ({ kind: 'text' as const, text: 'a' }))
  const choice = { parts, stop: 'end' as const, stopSequence: null, logprobs: null }
  const begin = threadCpuMs()
  const written = writeAnswer({ id, model: 'm', choices: [choice], usage: null }, 'fallback')
  expect(threadCpuMs() - begin).toBeLessThan(budget(2_000))
  expect(written.content).toHaveLength(128)
})

it('keeps arguments as text that are nested too deeply to be written', () => {
  const argumentsJson = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
  const part = { kind: 'tool-call' as const, id: 'x', name: 'look_up', argumentsJson }
  const choice = { parts: [part], stop: 'end' as const, stopSequence: null, logprobs: null }
  const written = writeAnswer({ id: 'a', model: 'm', choices: [choice], usage: null }, 'b')
  expect(written.content).toMatchObject([{ input: { INVALID_JSON: argumentsJson } }])
  expect(() => JSON.stringify(written)).not.toThrow()
})
