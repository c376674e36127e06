import { describe, expect, it } from 'vitest'
import { convertCall } from '#relay/conversion/convert-call.ts'
import type { ProviderFormatName } from '#relay/conversion/format-conversion.ts'
import { OPENAI } from '#relay/conversion/openai-chat/chat-extensions-of-provider.ts'

/** Two ids of calls, as the gateway makes them: they begin with the time. */
const CALLS = ['019ae1b2-3c4d-7e5f-8a9b-0c1d2e3f4a5b', '019ae1b2-3c4e-7e5f-8a9b-0c1d2e3f4a5b']

const ARGUMENTS = '{"path":"a.txt"}'
const FUNCTION = { name: 'read', arguments: ARGUMENTS }
const USE = { type: 'tool_use', name: 'read', input: { path: 'a.txt' } }
const ITEM = { type: 'function_call', name: 'read', arguments: ARGUMENTS, status: 'completed' }
const GEMINI_ANSWER = {
  candidates: [
    {
      content: { parts: [{ functionCall: { name: 'read', args: { path: 'a.txt' } } }] },
      finishReason: 'STOP',
    },
  ],
}

type Answer = { readonly plain: object; readonly stream: readonly object[] }

/** Answers with a tool call, in which neither the answer nor the call has an id. */
const ANSWERS: Readonly<Record<ProviderFormatName, Answer>> = {
  gemini: { plain: GEMINI_ANSWER, stream: [GEMINI_ANSWER] },
  chat: {
    plain: {
      id: '',
      choices: [{ message: { tool_calls: [{ function: FUNCTION }] }, finish_reason: 'tool_calls' }],
    },
    stream: [
      { choices: [{ delta: { tool_calls: [{ index: 0, function: FUNCTION }] } }] },
      { choices: [{ delta: {}, finish_reason: 'tool_calls' }] },
    ],
  },
  messages: {
    plain: { content: [USE], stop_reason: 'tool_use' },
    stream: [
      { type: 'message_start', message: {} },
      { type: 'content_block_start', index: 0, content_block: USE },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
      { type: 'message_stop' },
    ],
  },
  responses: {
    plain: { status: 'completed', output: [ITEM] },
    stream: [
      { type: 'response.output_item.added', output_index: 0, item: ITEM },
      { type: 'response.output_item.done', output_index: 0, item: ITEM },
      { type: 'response.completed', response: { status: 'completed', output: [ITEM] } },
    ],
  },
}

const QUESTION = { role: 'user', content: 'Read a.txt' }
const CALLERS = {
  chat: { model: 'm', messages: [QUESTION] },
  messages: { model: 'm', max_tokens: 9, messages: [QUESTION] },
  responses: { model: 'm', input: 'Read a.txt' },
  gemini: { contents: [{ parts: [{ text: 'Read a.txt' }] }] },
}
const NAMES = ['chat', 'messages', 'responses', 'gemini'] as const
const PAIRS = NAMES.flatMap((from) =>
  NAMES.flatMap((to) => (from === to ? [] : [[from, to] as const])),
)

/** The ids in an answer, by their members' names. */
const idsIn = (text: string, names: string): string[] =>
  [...text.matchAll(new RegExp(`"(?:${names})":"([^"]*)"`, 'g'))].map(([, id]) => id ?? '')

describe.each(PAIRS)('the answers without ids that a caller of %s gets of %s', (from, to) => {
  const convert = () => {
    const target = { format: to, model: 'm', outputTokensMax: 9, vendor: OPENAI }
    const body = Buffer.from(JSON.stringify(CALLERS[from]))
    return convertCall(from, body, { model: 'm', isStream: false }, target)
  }
  const plain = (id: string): string => {
    const answer = convert().convertAnswer(Buffer.from(JSON.stringify(ANSWERS[to].plain)), id)
    if (!Buffer.isBuffer(answer)) throw new Error('no answer')
    return answer.toString('utf8')
  }
  const streamed = (id: string): string => {
    const stream = convert().createStream(id)
    const events = ANSWERS[to].stream.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
    return `${stream.convert(Buffer.from(events))}${stream.end(Buffer.alloc(0))}`
  }

  it.each([plain, streamed])('have the id of the call, and different calls of tools', (answer) => {
    const [first = '', second = ''] = CALLS.map(answer)
    const names = from === 'gemini' ? 'id|responseId' : 'id|call_id'
    const ids = [idsIn(first, names), idsIn(second, names)] as const
    expect(ids[0].length, first).toBeGreaterThan(1)
    expect(ids[0]).not.toContain('')
    expect(ids[0].filter((id) => ids[1].includes(id))).toEqual([])
    expect(first.replaceAll(/[^A-Za-z0-9]/g, '')).toContain(CALLS[0]?.replaceAll('-', ''))
  })
})
