import { describe, expect, it } from 'vitest'
import type { CanonicalEvent } from '#relay/canonical/canonical-answer.ts'
import { createStreamReader } from '#relay/conversion/openai-chat/read-stream.ts'

const chunk = (delta: unknown, choice = {}) => ({
  id: 'chatcmpl-1',
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: null, ...choice }],
})
const call = (index: number, name: string | null, json: string, id: string | null = null) => ({
  tool_calls: [{ index, ...(id && { id }), function: { ...(name && { name }), arguments: json } }],
})
const END = chunk({}, { finish_reason: 'stop' })

function eventsOf(chunks: readonly object[]): readonly CanonicalEvent[] {
  const reader = createStreamReader()
  const events = chunks.flatMap((data) => reader.read({ ...data }, ''))
  return [...events, ...reader.finish()]
}

/** Returns the events of choice 0 without its `start`, `stop` and `end`, in a short form. */
const shortened = (chunks: readonly object[]): readonly unknown[] =>
  eventsOf(chunks).flatMap((event) => {
    if (!('part' in event)) return []
    const { kind, choice: _, part, ...rest } = event
    return [[kind, part, ...Object.values(rest)]]
  })

describe('reading a stream', () => {
  it('reads texts, the reason and the usage', () => {
    const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
    const chunks = [
      { id: '', model: '', choices: [], prompt_filter_results: [] },
      chunk({ role: 'assistant', content: '', refusal: null }),
      chunk({ content: 'Hel' }),
      chunk({ content: 'lo' }),
      chunk({}, { finish_reason: 'length' }),
      { id: 'chatcmpl-1', model: 'm', choices: [], usage },
    ]
    expect(eventsOf(chunks)).toEqual([
      { kind: 'start', id: 'chatcmpl-1', model: 'm' },
      { kind: 'text', choice: 0, part: 0, text: 'Hel' },
      { kind: 'text', choice: 0, part: 0, text: 'lo' },
      { kind: 'stop', choice: 0, stop: 'length', stopSequence: null },
      { kind: 'usage', usage: expect.objectContaining({ inputUncached: 5, output: 2 }) },
      { kind: 'end' },
    ])
  })

  it('reads the interleaved deltas of parallel calls', () => {
    const chunks = [
      chunk({ content: 'both' }),
      chunk(call(0, 'f', '', 'a')),
      chunk(call(1, 'g', '', 'b')),
      chunk(call(0, null, '{"x"')),
      chunk(call(1, null, '{}')),
      chunk(call(0, null, ':1}')),
      chunk({}, { finish_reason: 'tool_calls' }),
    ]
    expect(shortened(chunks)).toEqual([
      ['text', 0, 'both'],
      ['tool-call', 1, 'a', 'f'],
      ['tool-call', 2, 'b', 'g'],
      ['tool-arguments', 1, '{"x"'],
      ['tool-arguments', 2, '{}'],
      ['tool-arguments', 1, ':1}'],
    ])
    expect(eventsOf(chunks)).toContainEqual(expect.objectContaining({ stop: 'tool-calls' }))
  })

  it('tells calls apart that all have the number 0, as Gemini’s endpoint sends them', () => {
    const chunks = [chunk(call(0, 'f', '{"x":1}', 'a')), chunk(call(0, 'f', '{"x":2}', 'b')), END]
    expect(shortened(chunks)).toEqual([
      ['tool-call', 0, 'a', 'f'],
      ['tool-arguments', 0, '{"x":1}'],
      ['tool-call', 1, 'b', 'f'],
      ['tool-arguments', 1, '{"x":2}'],
    ])
  })

  it('keeps a call together whose id changes or is repeated', () => {
    const chunks = [
      chunk(call(0, 'f', '{', 'a')),
      chunk(call(0, null, '"x":', 'other')),
      chunk(call(0, 'f', '1}', 'a')),
      END,
    ]
    expect(shortened(chunks)).toEqual([
      ['tool-call', 0, 'a', 'f'],
      ['tool-arguments', 0, '{'],
      ['tool-arguments', 0, '"x":'],
      ['tool-arguments', 0, '1}'],
    ])
  })

  it('reads calls without ids and numbers, names that come late, and missing arguments', () => {
    const chunks = [
      chunk({ tool_calls: [{ function: { name: 'f', arguments: '{"x":' } }] }),
      chunk({ tool_calls: [{ function: { arguments: '1}' } }] }),
      chunk(call(7, null, '{"y"', 'late')),
      chunk(call(7, 'g', ':2}')),
      chunk(call(8, 'h', '')),
      chunk(call(9, null, '{"never":"named"}')),
      END,
    ]
    expect(shortened(chunks)).toEqual([
      ['tool-call', 0, 'call_chatcmpl1_0_0', 'f'],
      ['tool-arguments', 0, '{"x":'],
      ['tool-arguments', 0, '1}'],
      ['tool-call', 1, 'late', 'g'],
      ['tool-arguments', 1, '{"y"'],
      ['tool-arguments', 1, ':2}'],
      ['tool-call', 2, 'call_chatcmpl1_0_2', 'h'],
      ['tool-arguments', 2, '{}'],
    ])
  })

  it('moves texts that come between tool calls behind them', () => {
    const encrypted = { type: 'reasoning.encrypted', data: 'b3A=' }
    const chunks = [
      chunk(call(0, 'f', '{', 'a')),
      chunk({ content: 'be' }),
      chunk({ reasoning_details: [encrypted] }),
      chunk({ content: 'tween' }),
      chunk(call(0, null, '}')),
      chunk(call(1, 'g', '{}', 'b')),
      END,
    ]
    expect(shortened(chunks).slice(3)).toEqual([
      ['tool-call', 1, 'b', 'g'],
      ['tool-arguments', 1, '{}'],
      ['text', 2, 'be'],
      ['thinking-redacted', 3, 'b3A='],
      ['text', 4, 'tween'],
    ])
  })

  it.each([['reasoning_content'], ['reasoning']])('reads thinking in %s', (member) => {
    const chunks = [
      chunk({ [member]: 'h' }),
      chunk({ [member]: 'm' }),
      chunk({ content: 'x' }),
      END,
    ]
    expect(shortened(chunks)).toEqual([
      ['thinking', 0, 'h'],
      ['thinking', 0, 'm'],
      ['text', 1, 'x'],
    ])
  })

  it('reads OpenRouter’s thinking once, with signatures', () => {
    const detail = (index: number, members: object) => ({
      reasoning_details: [{ index, format: 'anthropic-claude-v1', ...members }],
    })
    const text = (index: number, words: string) => ({
      reasoning: words,
      ...detail(index, { type: 'reasoning.text', text: words }),
    })
    const chunks = [
      chunk(text(0, 'h')),
      chunk(text(0, 'm')),
      chunk(detail(0, { type: 'reasoning.text', signature: 's0', text: null })),
      chunk(text(1, 'next')),
      chunk(detail(1, { type: 'reasoning.text', signature: 's1' })),
      chunk(detail(2, { type: 'reasoning.encrypted', data: 'b3A=' })),
      chunk({ content: 'x' }),
      END,
    ]
    expect(shortened(chunks)).toEqual([
      ['thinking', 0, 'h'],
      ['thinking', 0, 'm'],
      ['thinking-signature', 0, 's0'],
      ['thinking', 1, 'next'],
      ['thinking-signature', 1, 's1'],
      ['thinking-redacted', 2, 'b3A='],
      ['text', 3, 'x'],
    ])
  })

  it('takes a signature for thinking that came as reasoning_content', () => {
    const signature = { type: 'reasoning.text', signature: 's', index: 0 }
    const chunks = [chunk({ reasoning_content: 'hm' }), chunk({ reasoning_details: [signature] })]
    expect(shortened(chunks)).toEqual([
      ['thinking', 0, 'hm'],
      ['thinking-signature', 0, 's'],
    ])
  })

  it('reads several choices, a refusal and log probabilities', () => {
    const tokens = [{ token: 'x', logprob: -1 }]
    const events = eventsOf([
      chunk({ content: 'x' }, { logprobs: { content: tokens, refusal: null } }),
      chunk({ refusal: 'No.' }, { index: 1 }),
      chunk({}, { index: 1, finish_reason: 'stop' }),
    ])
    expect(events.slice(1)).toEqual([
      { kind: 'text', choice: 0, part: 0, text: 'x' },
      { kind: 'logprobs', choice: 0, tokens },
      { kind: 'refusal', choice: 1, part: 0, text: 'No.' },
      { kind: 'stop', choice: 1, stop: 'refusal', stopSequence: null },
      { kind: 'stop', choice: 0, stop: 'end', stopSequence: null },
      { kind: 'end' },
    ])
  })

  it.each([
    [{ error: { message: 'Overloaded', type: 'overloaded_error' } }, '', 'overloaded_error'],
    [{ error: { message: 'Overloaded', code: 'busy' }, choices: [{}] }, '', 'busy'],
    [{ error: 'Overloaded' }, '', 'error'],
    [{ message: 'Overloaded', type: 'busy' }, 'error', 'busy'],
  ])('ends with the error in %j', (data, event, type) => {
    const reader = createStreamReader()
    reader.read(chunk({ content: 'x' }), '')
    expect(reader.read(data, event)).toEqual([{ kind: 'error', type, message: 'Overloaded' }])
    expect(reader.read(chunk({ content: 'y' }), '')).toEqual([])
    expect(reader.finish()).toEqual([])
  })

  it('ends an empty stream', () => {
    expect(eventsOf([])).toEqual([{ kind: 'end' }])
    expect(eventsOf([{ error: null, choices: [] }])).toEqual([{ kind: 'end' }])
  })

  it('bounds the choices, the parts and the texts that it keeps', () => {
    const choices = Array.from({ length: 1000 }, (_, index) => ({ index, delta: { content: 'x' } }))
    expect(eventsOf([{ choices }]).filter(({ kind }) => kind === 'text')).toHaveLength(128)
    const calls = Array.from({ length: 1000 }, (_, index) =>
      chunk(call(index, 'f', '{}', `${index}`)),
    )
    expect(eventsOf(calls).filter(({ kind }) => kind === 'tool-call')).toHaveLength(128)
    const alternating = Array.from({ length: 1000 }, (_, at) =>
      chunk(at % 2 === 0 ? { content: 'x' } : { reasoning: 'y' }),
    )
    expect(new Set(eventsOf(alternating).map((event) => 'part' in event && event.part)).size).toBe(
      129,
    )
    const held = Array.from({ length: 30 }, () => chunk({ content: 'x'.repeat(100_000) }))
    const kept = eventsOf([chunk(call(0, 'f', '{}', 'a')), ...held])
    expect(JSON.stringify(kept).length).toBeLessThan(300_000)
  })

  it.each([
    [{ choices: null }],
    [{ choices: [null, 'x', { index: -1, delta: { content: 'x' } }, { index: 1e9 }] }],
    [{ choices: [{ delta: 'x', finish_reason: 4, logprobs: [] }] }],
    [{ choices: [{ delta: { tool_calls: [null, {}, { index: '0', function: 'f' }] } }] }],
    [{ choices: [{ delta: { tool_calls: { a: 1 }, content: {}, reasoning_details: [{}] } }] }],
    [{ choices: [{ delta: { reasoning_details: [{ type: 'reasoning.text', index: {} }] } }] }],
    [{ id: {}, model: [], choices: [{ delta: { function_call: { name: 'f' } } }] }],
    [{ choices: [{}], usage: { prompt_tokens: {} } }],
  ])('never throws: %j', (data) => {
    expect(eventsOf([data, data]).at(-1)).toEqual({ kind: 'end' })
  })
})
