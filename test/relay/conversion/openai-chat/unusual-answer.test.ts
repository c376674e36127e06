import { expect, it } from 'vitest'
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
