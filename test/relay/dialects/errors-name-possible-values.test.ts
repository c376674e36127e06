import { expect, it } from 'vitest'
import { isRelayError } from '#relay/canonical/relay-error.ts'
import { ANTHROPIC_MESSAGES } from '#relay/dialects/anthropic-messages/messages-format.ts'
import { EMBEDDINGS } from '#relay/dialects/embeddings-rerank-moderations/embeddings-format.ts'
import { GEMINI_EMBEDDING_BATCH } from '#relay/dialects/embeddings-rerank-moderations/gemini-embedding-formats.ts'
import { RERANK } from '#relay/dialects/embeddings-rerank-moderations/rerank-format.ts'
import { GEMINI } from '#relay/dialects/gemini/generate-content-format.ts'
import { GEMINI_IMAGES } from '#relay/dialects/gemini-images/imagen-predict-format.ts'
import { OPENAI_SPEECH } from '#relay/dialects/openai-audio/speech-format.ts'
import { OPENAI_CHAT } from '#relay/dialects/openai-chat/chat-format.ts'
import { errorBody } from '#relay/dialects/openai-chat/error-format.ts'
import { TOOLS_MAX } from '#relay/dialects/openai-chat/find-message-parts-and-tools.ts'
import { OPENAI_COMPLETIONS } from '#relay/dialects/openai-completions/completions-format.ts'
import { OPENAI_IMAGES } from '#relay/dialects/openai-images/image-formats.ts'
import { OPENAI_RESPONSES } from '#relay/dialects/openai-responses/responses-format.ts'
import type { WireFormat } from '#relay/dialects/wire-format.ts'

const messages = [{ role: 'user', content: 'x' }]
const contents = [{ parts: [{ text: 'x' }] }]

const CASES: readonly (readonly [WireFormat, object, param: string, range: string])[] = [
  [OPENAI_CHAT, { messages, n: 129 }, 'n', '1–128'],
  [OPENAI_CHAT, { messages, max_tokens: -1 }, 'max_tokens', '0–10000000'],
  [OPENAI_CHAT, { messages, max_completion_tokens: 1.5 }, 'max_completion_tokens', '0–10000000'],
  [OPENAI_RESPONSES, { input: 'x', max_output_tokens: '9' }, 'max_output_tokens', '1–10000000'],
  [ANTHROPIC_MESSAGES, { messages, max_tokens: 0 }, 'max_tokens', '1–10000000'],
  [OPENAI_COMPLETIONS, { prompt: 'x', best_of: 1e9 }, 'best_of', '1–128'],
  [OPENAI_IMAGES, { prompt: 'x', n: 0 }, 'n', '1–10'],
  [OPENAI_IMAGES, { prompt: 'x', partial_images: 4 }, 'partial_images', '0–3'],
  [EMBEDDINGS, { input: 'x', dimensions: 0 }, 'dimensions', '1–100000'],
  [RERANK, { query: 'x', documents: ['a'], top_n: -1 }, 'top_n', '0–1000000'],
  [
    GEMINI_IMAGES,
    { instances: [{ prompt: 'x' }], parameters: { sampleCount: 99 } },
    'parameters.sampleCount',
    '1–8',
  ],
  [
    GEMINI,
    { contents, generationConfig: { candidateCount: 500 } },
    'generationConfig.candidateCount',
    '1–128',
  ],
  [
    GEMINI,
    { contents, generationConfig: { maxOutputTokens: 1e18 } },
    'generationConfig.maxOutputTokens',
    '1–10000000',
  ],
]

it.each(CASES.map(([format, ...row]) => [format.name, ...row, format] as const))(
  'an error of the format %s tells the range of the integer: %j',
  (_name, members, param, range, format) => {
    const { en, zh } = errorsOf(format, members)
    expect(en).toMatchObject({ param, code: 'invalid_parameter' })
    const message = `Invalid value for '${param}': it must be an integer in the range ${range}.`
    expect(en.message).toBe(message)
    expect(zh.message).toContain(`必须为 ${range} 范围内的整数`)
  },
)

function errorsOf(format: WireFormat, members: object) {
  const body = Buffer.from(JSON.stringify({ model: 'm', ...members }))
  const request = format.readRequest(body, { model: 'm', isStream: false })
  if (!isRelayError(request)) throw new Error('not refused')
  const { status, body: en } = errorBody(request, 'en')
  expect(status).toBe(400)
  return { en: en.error, zh: errorBody(request, 'zh').body.error }
}

const TEXT = '"…"'
const OF_KIND: readonly (readonly [WireFormat, object, param: string, values: string])[] = [
  [GEMINI_EMBEDDING_BATCH, { requests: [{ model: 5, content: {} }] }, 'requests[0].model', TEXT],
  [GEMINI_EMBEDDING_BATCH, { requests: [{ content: [] }] }, 'requests[0].content', '{…}'],
  [OPENAI_CHAT, { messages: [{ role: 5 }] }, 'messages[0].role', TEXT],
  [OPENAI_CHAT, { messages: 'x' }, 'messages', '[{…}]'],
  [OPENAI_CHAT, { messages, tools: ['x'] }, 'tools', '[{…}]'],
  [OPENAI_CHAT, { messages, temperature: 'x' }, 'temperature', '0, 1.5, …'],
  [OPENAI_CHAT, { messages, stream: 1 }, 'stream', 'true, false'],
  [OPENAI_RESPONSES, { input: [{ role: 5 }] }, 'input[0].role', TEXT],
  [ANTHROPIC_MESSAGES, { messages: [{ role: 'user', content: 5 }] }, 'messages[0].content', TEXT],
  [OPENAI_COMPLETIONS, { prompt: 'x', logit_bias: [] }, 'logit_bias', '{…}'],
  [OPENAI_COMPLETIONS, { prompt: [{}] }, 'prompt', '["…"]'],
  [OPENAI_SPEECH, { input: 'x', speed: 99 }, 'speed', '0.1–10'],
  [OPENAI_SPEECH, { input: 'x', stream_format: 'x' }, 'stream_format', 'sse, audio'],
  [GEMINI, { contents: [{ parts: 'x' }] }, 'contents[0].parts', '[…], {…}'],
  [GEMINI, { contents, tools: [5] }, 'tools', '[{…}]'],
  [GEMINI_IMAGES, { instances: [] }, 'instances', '[{"prompt": "…"}]'],
]

it.each(OF_KIND.map(([format, ...row]) => [format.name, ...row, format] as const))(
  'an error of the format %s names the JSON kinds that are possible: %j',
  (_name, members, param, values, format) => {
    const { en, zh } = errorsOf(format, members)
    expect(en).toMatchObject({ param, code: 'invalid_parameter' })
    for (const { message } of [en, zh]) expect(message).toContain(values)
  },
)

it('an error about too many elements of a list tells the maximum', () => {
  const tools = Array.from({ length: TOOLS_MAX + 1 }, () => ({ type: 'function' }))
  const { en } = errorsOf(OPENAI_CHAT, { messages, tools })
  expect(en.message).toBe(`'tools' has more than ${TOOLS_MAX} elements.`)
})

it.each([
  [OPENAI_IMAGES, { prompt: '' }, 'prompt', 'invalid_parameter'],
  [OPENAI_IMAGES, {}, 'prompt', 'missing_parameter'],
  [OPENAI_IMAGES, { prompt: null }, 'prompt', 'missing_parameter'],
  [OPENAI_SPEECH, { input: '' }, 'input', 'invalid_parameter'],
  [OPENAI_SPEECH, {}, 'input', 'missing_parameter'],
  [GEMINI_IMAGES, { instances: [{}] }, 'instances[0].prompt', 'invalid_parameter'],
] as const)('%o tells with %j that %s must be a text', (format, members, param, code) => {
  const { en, zh } = errorsOf(format, members)
  expect(en).toMatchObject({ param, code, message: expect.stringContaining(`'${param}'`) })
  expect(en.message).toContain('string that is not empty')
  expect(zh.message).toContain('非空字符串')
})
