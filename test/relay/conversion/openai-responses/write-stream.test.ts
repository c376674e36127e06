import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import type { CanonicalEvent } from '#relay/canonical/canonical-answer.ts'
import { readAnswer } from '#relay/conversion/openai-responses/read-answer.ts'
import { readAnswerSettings } from '#relay/conversion/openai-responses/read-request.ts'
import { createStreamReader } from '#relay/conversion/openai-responses/read-stream.ts'
import { createStreamWriter } from '#relay/conversion/openai-responses/write-stream.ts'

type Written = { readonly type: string } & Record<string, unknown>

function writeAll(events: readonly CanonicalEvent[], request: object = {}): string {
  const settings = { ...readAnswerSettings({ ...request }), isStored: true }
  const writer = createStreamWriter({ ...settings, createdAt: 1_700 })
  return events.map((event) => writer.write(event)).join('')
}

/** Returns the events, and checks their names and sequence numbers. */
function parse(stream: string): Written[] {
  return stream
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block, at) => {
      const [name, line = '', ...rest] = block.split('\n')
      const data: Written = JSON.parse(line.replace(/^data: /, ''))
      expect([name, data.sequence_number, rest]).toEqual([`event: ${data.type}`, at, []])
      return data
    })
}

const typesOf = (stream: string): string[] =>
  parse(stream).map(({ type }) => type.replace(/^response\./, ''))

function readAgain(stream: string): CanonicalEvent[] {
  const reader = createStreamReader()
  const read = parse(stream).flatMap((data) => reader.read(data, data.type))
  // `announce-first-part.test.ts` tests when a part is announced.
  return [...read, ...reader.finish()].filter(({ kind }) => kind !== 'part-begun')
}

/** Reads a stream with OpenAI's SDK, which checks the order, the indexes and the ids. */
async function readWithSdk(stream: string) {
  const headers = { 'content-type': 'text/event-stream' }
  const fetch = async (): Promise<Response> => new Response(stream, { headers })
  const client = new OpenAI({ apiKey: 'k', baseURL: 'http://localhost', fetch })
  return await client.responses.stream({ model: 'm', input: 'a' }).finalResponse()
}

const part = { choice: 0, part: 0 } as const
const at = (index: number) => ({ choice: 0, part: index }) as const
const START: CanonicalEvent = { kind: 'start', id: 'msg_01', model: 'claude' }
const stop = (reason: 'end' | 'length' | 'refusal' | 'tool-calls'): CanonicalEvent[] => [
  { kind: 'stop', choice: 0, stop: reason, stopSequence: null },
  { kind: 'end' },
]
const USAGE: CanonicalEvent = {
  kind: 'usage',
  usage: {
    ...{ inputUncached: 1, cacheRead: 2, cacheWrite5m: 4, cacheWrite1h: 0 },
    ...{ inputAudio: 0, inputImage: 0, output: 8, reasoning: 3, outputAudio: 0 },
  },
}
const AGENT: readonly CanonicalEvent[] = [
  START,
  { kind: 'thinking', ...at(0), text: 'Hm' },
  { kind: 'thinking', ...at(0), text: '.' },
  { kind: 'thinking-signature', ...at(0), signature: 'openai:gAAA' },
  { kind: 'thinking-redacted', ...at(1), data: 'openai:gBBB' },
  { kind: 'text', ...at(2), text: 'I ' },
  { kind: 'text', ...at(2), text: 'look.' },
  { kind: 'tool-call', ...at(3), id: 'c1', name: 'f' },
  { kind: 'tool-call', ...at(4), id: 'c2', name: 'g' },
  { kind: 'tool-arguments', ...at(3), json: '{"a"' },
  { kind: 'tool-arguments', ...at(4), json: '{}' },
  { kind: 'tool-arguments', ...at(3), json: ':1}' },
  USAGE,
  ...stop('tool-calls'),
]

describe('writing a stream in OpenAI’s responses format', () => {
  it('writes all events of thinking, a text and interleaved calls', () => {
    const item = (name: string, ...content: string[]) => [
      'output_item.added',
      ...content.map((each) => `${name}${each}`),
      'output_item.done',
    ]
    const calls = ['delta', 'delta', 'delta', 'done']
    expect(typesOf(writeAll(AGENT))).toEqual([
      ...['created', 'in_progress'],
      ...item('reasoning_summary_', ...['part.added', 'text.delta', 'text.delta']).slice(0, -1),
      ...['reasoning_summary_text.done', 'reasoning_summary_part.done', 'output_item.done'],
      ...['output_item.added', 'output_item.done'],
      ...['output_item.added', 'content_part.added', 'output_text.delta', 'output_text.delta'],
      ...['output_text.done', 'content_part.done', 'output_item.done'],
      ...['output_item.added', 'output_item.added'],
      ...calls.map((each) => `function_call_arguments.${each}`),
      ...['output_item.done', 'function_call_arguments.done', 'output_item.done'],
      'completed',
    ])
  })

  it('gives the same events when it is read again', () => {
    const again = readAgain(writeAll(AGENT))
    expect(again.slice(1)).toEqual(AGENT.slice(1))
    expect(again[0]).toEqual({ ...START, id: 'resp_msg_01' })
  })

  it('is accepted by OpenAI’s SDK, whose answer equals the complete one', async () => {
    const stream = writeAll(AGENT)
    const answer = await readWithSdk(stream)
    expect(answer).toMatchObject({ id: 'resp_msg_01', status: 'completed', output_text: 'I look.' })
    expect(answer.usage).toMatchObject({ input_tokens: 7, output_tokens: 8, total_tokens: 15 })
    expect(readAnswer({ ...answer }).choices[0]?.parts).toEqual([
      { kind: 'thinking', text: 'Hm.', signature: 'openai:gAAA' },
      { kind: 'thinking', text: '', redacted: 'openai:gBBB' },
      { kind: 'text', text: 'I look.' },
      { kind: 'tool-call', id: 'c1', name: 'f', argumentsJson: '{"a":1}' },
      { kind: 'tool-call', id: 'c2', name: 'g', argumentsJson: '{}' },
    ])
    expect(parse(stream).at(-1)?.response).toMatchObject({
      output: answer.output.map(({ id }) => ({ id })),
    })
  })

  it('writes an empty answer', async () => {
    const stream = writeAll([START, ...stop('end')])
    expect(typesOf(stream)).toEqual(['created', 'in_progress', 'completed'])
    expect(await readWithSdk(stream)).toMatchObject({ status: 'completed', output: [] })
    expect(typesOf(writeAll([{ kind: 'end' }]))).toEqual(['created', 'in_progress', 'completed'])
  })

  it('writes successive texts and refusals as contents of one message', async () => {
    const events: CanonicalEvent[] = [
      START,
      { kind: 'text', ...at(0), text: 'a' },
      { kind: 'text', ...at(1), text: 'b' },
      { kind: 'refusal', ...at(2), text: 'No.' },
      ...stop('refusal'),
    ]
    const stream = writeAll(events)
    const content = [{ text: 'a' }, { text: 'b' }, { type: 'refusal', refusal: 'No.' }]
    expect(await readWithSdk(stream)).toMatchObject({ status: 'completed', output: [{ content }] })
    expect(readAgain(stream).slice(1)).toEqual(events.slice(1))
  })

  it.each([
    ['length', 'max_output_tokens'],
    ['refusal', 'content_filter'],
  ] as const)('writes the stop %s as an incomplete response', async (reason, written) => {
    const stream = writeAll([START, { kind: 'text', ...part, text: 'a' }, USAGE, ...stop(reason)])
    expect(parse(stream).at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: {
        status: 'incomplete',
        incomplete_details: { reason: written },
        output: [{ status: 'incomplete' }],
        usage: { input_tokens: 7 },
      },
    })
    expect(await readWithSdk(stream)).toMatchObject({ status: 'incomplete', output_text: 'a' })
  })

  it('writes an error for SDKs and for Codex, and nothing after it', async () => {
    const error = { kind: 'error', type: 'rate_limit_error', message: 'Slow down.' } as const
    const text: CanonicalEvent = { kind: 'text', ...part, text: 'a' }
    const stream = writeAll([START, text, error, text, ...stop('end')])
    expect(typesOf(stream).slice(-3)).toEqual(['output_item.done', 'error', 'failed'])
    const details = { code: 'rate_limit_exceeded', message: 'Slow down.' }
    expect(parse(stream).slice(-2)).toMatchObject([
      { ...details, error: { ...details, type: 'rate_limit_error' } },
      { response: { status: 'failed', error: details, output: [{ status: 'incomplete' }] } },
    ])
    await expect(readWithSdk(stream)).rejects.toThrow('Slow down.')
    expect(typesOf(writeAll([error]))).toEqual(['created', 'in_progress', 'error', 'failed'])
  })

  it('writes the input of a custom tool as it arrives', async () => {
    const call = { kind: 'tool-call', ...part, id: 'c', name: 'apply_patch' } as const
    const json = ['{"inp', 'ut":"*** Be', 'gin"}'].map(
      (each) => ({ kind: 'tool-arguments', ...part, json: each }) as const,
    )
    const tools = [{ type: 'custom', name: 'apply_patch' }]
    const stream = writeAll([START, call, ...json, ...stop('tool-calls')], { tools })
    expect(typesOf(stream).slice(2)).toEqual([
      'output_item.added',
      'custom_tool_call_input.delta',
      'custom_tool_call_input.delta',
      'custom_tool_call_input.done',
      'output_item.done',
      'completed',
    ])
    const { output } = await readWithSdk(stream)
    expect(output).toMatchObject([
      { type: 'custom_tool_call', call_id: 'c', name: 'apply_patch', input: '*** Begin' },
    ])
  })

  it.each([
    { kind: 'text', ...part, text: 'x'.repeat(500_000) },
    { kind: 'tool-arguments', ...part, json: 'x'.repeat(500_000) },
    { kind: 'logprobs', choice: 0, tokens: [{ token: 'x'.repeat(500_000) }] },
  ] as const)('gives up on an answer of more than 40 Mi characters ($kind)', (event) => {
    const tools = [{ type: 'custom', name: 'patch' }]
    const settings = { ...readAnswerSettings({ tools }), isStored: true }
    const writer = createStreamWriter({ ...settings, createdAt: 1_700 })
    const call = { kind: 'tool-call', ...part, id: 'c', name: 'patch' } as const
    writer.write(START)
    if (event.kind === 'tool-arguments') writer.write(call)
    for (let times = 0; times < 83; times += 1) writer.write(event)
    expect(writer.hasGivenUp).toBe(false)
    writer.write(event)
    expect(writer.hasGivenUp).toBe(true)
    expect(writer.write({ kind: 'end' })).toBe('')
  })

  it('writes an object as the arguments of a call without arguments', async () => {
    const call = { kind: 'tool-call', ...part, id: 'c', name: 'f' } as const
    const { output } = await readWithSdk(writeAll([START, call, ...stop('tool-calls')]))
    expect(output).toMatchObject([{ type: 'function_call', arguments: '{}' }])
  })

  it('keeps the signature of a call in an item before it', async () => {
    const call = { kind: 'tool-call', ...part, id: 'c', name: 'f', signature: 's' } as const
    const { output } = await readWithSdk(writeAll([START, call, ...stop('tool-calls')]))
    expect(output.map(({ type }) => type)).toEqual(['reasoning', 'function_call'])
  })

  it('writes log probabilities with the text that they belong to', async () => {
    const tokens = [{ token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }]
    const logprobs: CanonicalEvent = { kind: 'logprobs', choice: 0, tokens }
    const text: CanonicalEvent = { kind: 'text', ...part, text: 'a' }
    for (const events of [
      [logprobs, text],
      [text, logprobs],
    ]) {
      const { output } = await readWithSdk(writeAll([START, ...events, ...stop('end')]))
      expect(output).toMatchObject([{ content: [{ text: 'a', logprobs: tokens }] }])
    }
  })

  it('leaves out other choices', () => {
    const other: CanonicalEvent = { kind: 'text', choice: 1, part: 0, text: 'b' }
    expect(typesOf(writeAll([START, other, ...stop('end')]))).toHaveLength(3)
  })
})
