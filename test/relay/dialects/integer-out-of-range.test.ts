import { expect, it } from 'vitest'
import { isRelayError } from '#relay/canonical/relay-error.ts'
import { ANTHROPIC_MESSAGES } from '#relay/dialects/anthropic-messages/messages-format.ts'
import { EMBEDDINGS } from '#relay/dialects/embeddings-rerank-moderations/embeddings-format.ts'
import { RERANK } from '#relay/dialects/embeddings-rerank-moderations/rerank-format.ts'
import { GEMINI } from '#relay/dialects/gemini/generate-content-format.ts'
import { GEMINI_IMAGES } from '#relay/dialects/gemini-images/imagen-predict-format.ts'
import { OPENAI_CHAT } from '#relay/dialects/openai-chat/chat-format.ts'
import { errorBody } from '#relay/dialects/openai-chat/error-format.ts'
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
    const body = Buffer.from(JSON.stringify({ model: 'm', ...members }))
    const request = format.readRequest(body, { model: 'm', isStream: false })
    if (!isRelayError(request)) throw new Error('not refused')
    const { status, body: answer } = errorBody(request, 'en')
    expect([status, answer.error.param, answer.error.code]).toEqual([
      400,
      param,
      'invalid_parameter',
    ])
    const message = `Invalid value for '${param}': it must be an integer in the range ${range}.`
    expect(answer.error.message).toBe(message)
    expect(errorBody(request, 'zh').body.error.message).toContain(`必须为 ${range} 范围内的整数`)
  },
)
