import { describe, expect, it } from 'vitest'
import type { JsonObject } from '#relay/canonical/json-values.ts'
import { isRelayError } from '#relay/canonical/relay-error.ts'
import { convertCall } from '#relay/conversion/convert-call.ts'
import type { ProviderFormatName } from '#relay/conversion/format-conversion.ts'
import { OPEN_ROUTER } from '#relay/conversion/openai-chat/chat-extensions-of-provider.ts'
import { ANTHROPIC_MESSAGES } from '#relay/dialects/anthropic-messages/messages-format.ts'
import { GEMINI } from '#relay/dialects/gemini/generate-content-format.ts'
import { OPENAI_CHAT } from '#relay/dialects/openai-chat/chat-format.ts'
import { OPENAI_RESPONSES } from '#relay/dialects/openai-responses/responses-format.ts'
import { removeForeignThinking } from '#relay/dialects/remove-thinking-of-other-providers.ts'

const MODEL = 'gemini-3.5-flash'
const PATH = { model: MODEL, isStream: false }
const NAMES = ['chat', 'messages', 'responses', 'gemini'] as const
const SIGNED = 'U0lHTkVE'
const HIDDEN = 'SElEREVO'

const chatDetail = { type: 'reasoning.text', text: 'Hm', format: 'google-gemini-v1', id: 'r' }
/** One answer of each provider, with signed thinking and a call. */
const ANSWERS: Readonly<Record<ProviderFormatName, JsonObject>> = {
  chat: {
    id: 'c',
    choices: [
      {
        message: {
          role: 'assistant',
          content: null,
          reasoning_details: [{ ...chatDetail, signature: SIGNED }],
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } },
          ],
        },
        finish_reason: 'tool_calls',
      },
    ],
  },
  messages: {
    id: 'msg_1',
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'Hm', signature: SIGNED },
      { type: 'redacted_thinking', data: HIDDEN },
      { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
    ],
    stop_reason: 'tool_use',
  },
  responses: {
    id: 'resp_1',
    status: 'completed',
    output: [
      {
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'Hm' }],
        encrypted_content: SIGNED,
      },
      { type: 'reasoning', summary: [], encrypted_content: HIDDEN },
      { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' },
    ],
  },
  gemini: {
    responseId: 'g',
    candidates: [
      {
        content: {
          role: 'model',
          parts: [
            { text: 'Hm', thought: true, thoughtSignature: SIGNED },
            { functionCall: { name: 'f', args: {} } },
          ],
        },
        finishReason: 'STOP',
      },
    ],
  },
}

type Answer = { readonly [key: string]: never }
const listOf = (value: unknown): readonly JsonObject[] => value as readonly JsonObject[]

/** The next request of a caller, which sends its answer back with the result of the call. */
const NEXT: Readonly<Record<ProviderFormatName, (answer: Answer | null) => JsonObject>> = {
  chat: (answer) => {
    const message = listOf(answer?.choices ?? [])[0]?.message as JsonObject | undefined
    const calls = listOf(message?.tool_calls ?? [])
    const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'done' }))
    const messages = [{ role: 'user', content: 'Go' }, ...(message ? [message] : []), ...results]
    return { model: MODEL, messages }
  },
  messages: (answer) => {
    const content = listOf(answer?.content ?? [])
    const results = content.flatMap(({ type, id }) =>
      type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: id, content: 'done' }] : [],
    )
    const turn = [
      { role: 'assistant', content },
      { role: 'user', content: results },
    ]
    const messages = [{ role: 'user', content: 'Go' }, ...(answer === null ? [] : turn)]
    return { model: MODEL, max_tokens: 4_000, messages }
  },
  responses: (answer) => {
    const output = listOf(answer?.output ?? [])
    const results = output.flatMap(({ type, call_id }) =>
      type === 'function_call' ? [{ type: 'function_call_output', call_id, output: 'done' }] : [],
    )
    return { model: MODEL, input: [{ role: 'user', content: 'Go' }, ...output, ...results] }
  },
  gemini: (answer) => {
    const content = listOf(answer?.candidates ?? [])[0]?.content
    const functionResponse = { name: 'f', response: { output: 'done' } }
    const turn = [content, { role: 'user', parts: [{ functionResponse }] }]
    const contents = [{ role: 'user', parts: [{ text: 'Go' }] }, ...(answer ? turn : [])]
    return { contents } as JsonObject
  },
}

const FORMATS = {
  chat: OPENAI_CHAT,
  messages: ANTHROPIC_MESSAGES,
  responses: OPENAI_RESPONSES,
  gemini: GEMINI,
}

const convert = (caller: ProviderFormatName, body: JsonObject, format: ProviderFormatName) =>
  convertCall(caller, Buffer.from(JSON.stringify(body)), PATH, {
    ...{ format, model: MODEL, outputTokensMax: 4_000, vendor: OPEN_ROUTER },
  })

/** The answer of a provider as its caller gets it. */
function answerFor(caller: ProviderFormatName, provider: ProviderFormatName): Answer {
  const answer = ANSWERS[provider]
  if (caller === provider) return answer as Answer
  const { convertAnswer } = convert(caller, NEXT[caller](null), provider)
  return JSON.parse(`${convertAnswer(Buffer.from(JSON.stringify(answer)), 'id')}`) as Answer
}

/** The request as a provider gets it. */
function sentTo(caller: ProviderFormatName, body: JsonObject, provider: ProviderFormatName) {
  if (caller !== provider) {
    const converted = convert(caller, body, provider)
    return { text: converted.body.toString(), losses: converted.losses }
  }
  const own = Buffer.from(JSON.stringify(body))
  const request = FORMATS[caller].readRequest(own, PATH)
  if (isRelayError(request)) throw new Error(request.code)
  const cut = removeForeignThinking(request, caller === 'gemini')
  return { text: (cut?.body ?? own).toString(), losses: cut?.losses ?? [] }
}

/** OpenRouter passes Anthropic's signatures on to Anthropic. */
const isPassedOn = (maker: ProviderFormatName, provider: ProviderFormatName): boolean =>
  maker === provider || (maker === 'messages' && provider === 'chat')

const cases = NAMES.flatMap((caller) =>
  NAMES.flatMap((from) => NAMES.map((to) => ({ caller, from, to }))),
)

describe('a caller who continues the conversation of one provider with another', () => {
  it.each(cases)('$caller: from $from to $to', ({ caller, from, to }) => {
    const { text, losses } = sentTo(caller, NEXT[caller](answerFor(caller, from)), to)
    expect(text).not.toMatch(/"(?:openai:|gemini:|cHJvdmlkZXI6|\{\\"type)/)
    expect(text).toContain('done')
    const lost = losses.filter((loss) => /thinking|signature|redacted/i.test(loss))
    if (isPassedOn(from, to)) {
      expect(text).toContain(SIGNED)
      expect(lost).toEqual([])
    } else {
      expect(text).not.toContain(SIGNED)
      expect(text).not.toContain(HIDDEN)
      expect(lost).not.toEqual([])
    }
  })
})
