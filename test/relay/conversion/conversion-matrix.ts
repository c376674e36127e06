import { isDeepStrictEqual } from 'node:util'
import type {
  CanonicalRequest,
  CanonicalTool,
  ContentPart,
} from '#relay/canonical/canonical-request.ts'
import { ConversionError } from '#relay/canonical/canonical-request.ts'
import { MESSAGES_CONVERSION } from '#relay/conversion/anthropic-messages/messages-conversion.ts'
import type { FormatConversion, ProviderFormatName } from '#relay/conversion/format-conversion.ts'
import { GEMINI_CONVERSION } from '#relay/conversion/gemini/gemini-conversion.ts'
import { CHAT_CONVERSION } from '#relay/conversion/openai-chat/chat-conversion.ts'
import { chatExtensionsOf } from '#relay/conversion/openai-chat/chat-extensions-of-provider.ts'
import { RESPONSES_CONVERSION } from '#relay/conversion/openai-responses/responses-conversion.ts'

/** Each format with a model whose rules allow the most, such as thinking. */
const COLUMNS: readonly (readonly [string, ProviderFormatName, FormatConversion, string])[] = [
  ['Chat', 'chat', CHAT_CONVERSION, 'gpt-5.1'],
  ['Responses', 'responses', RESPONSES_CONVERSION, 'gpt-5.1'],
  ['Messages', 'messages', MESSAGES_CONVERSION, 'claude-sonnet-4-5'],
  ['Gemini', 'gemini', GEMINI_CONVERSION, 'gemini-2.5-flash'],
]

const text = (value: string): ContentPart => ({ kind: 'text', text: value })
const PNG = { kind: 'base64', mediaType: 'image/png', data: 'iVBORw0KGgo=' } as const
const PDF = { kind: 'base64', mediaType: 'application/pdf', data: 'JVBERi0=' } as const
const TOOL: CanonicalTool = {
  name: 'weather',
  description: 'Returns the weather.',
  schema: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  },
  isStrict: false,
}
const call = (id: string): ContentPart => ({
  kind: 'tool-call',
  id,
  name: 'weather',
  argumentsJson: '{"city":"Paris"}',
})
const result = (callId: string, parts: readonly ContentPart[]): ContentPart => ({
  kind: 'tool-result',
  callId,
  name: 'weather',
  parts,
  isError: false,
})

const PLAIN: CanonicalRequest = {
  model: '',
  isStream: false,
  system: [],
  messages: [{ role: 'user', parts: [text('Hello')] }],
  tools: [],
  toolChoice: null,
  allowsParallelCalls: null,
  outputTokensMax: 20_000,
  sampling: {
    ...{ choices: null, temperature: null, topP: null, topK: null, seed: null },
    ...{ presencePenalty: null, frequencyPenalty: null, stop: [] },
  },
  thinking: null,
  answerFormat: null,
  logprobs: null,
  endUser: null,
  promptCacheKey: null,
}

const asked = (...parts: readonly ContentPart[]): Partial<CanonicalRequest> => ({
  messages: [{ role: 'user', parts: [text('Look'), ...parts] }],
})
const agentTurn = (
  calls: readonly ContentPart[],
  results: readonly ContentPart[],
): Partial<CanonicalRequest> => ({
  tools: [TOOL],
  messages: [
    { role: 'user', parts: [text('Hello')] },
    { role: 'assistant', parts: calls },
    { role: 'user', parts: results },
  ],
})
const sampled = (sampling: Partial<CanonicalRequest['sampling']>): Partial<CanonicalRequest> => ({
  sampling: { ...PLAIN.sampling, ...sampling },
})
const answer = (...parts: readonly ContentPart[]): Partial<CanonicalRequest> => ({
  messages: [
    { role: 'user', parts: [text('Hello')] },
    { role: 'assistant', parts: [...parts, text('Hi')] },
    { role: 'user', parts: [text('Go on')] },
  ],
})

/** The name of a feature, a request with it, and the same request without it. */
type Feature = readonly [string, Partial<CanonicalRequest>, Partial<CanonicalRequest>?]

/** What a request can say, each in a request that says nothing else. */
const FEATURES: readonly Feature[] = [
  ['system prompt', { system: [text('Be brief.')] }],
  [
    'instruction within the conversation',
    {
      messages: [
        { role: 'user', parts: [text('Hello')] },
        { role: 'assistant', parts: [text('Hi')] },
        { role: 'system', parts: [text('Be brief.')] },
        { role: 'user', parts: [text('Go on')] },
      ],
    },
  ],
  ['tools', { tools: [TOOL] }],
  ['strict tools', { tools: [{ ...TOOL, isStrict: true }] }],
  ['choice of one tool', { tools: [TOOL], toolChoice: { kind: 'tool', name: 'weather' } }],
  ['no parallel tool calls', { tools: [TOOL], allowsParallelCalls: false }],
  [
    'parallel tool calls',
    agentTurn(
      [call('call_1'), call('call_2')],
      [result('call_1', [text('21')]), result('call_2', [text('22')])],
    ),
  ],
  [
    'images in tool results',
    agentTurn([call('call_1')], [result('call_1', [{ kind: 'image', source: PNG }])]),
  ],
  ['images', asked({ kind: 'image', source: PNG }), asked()],
  ['documents', asked({ kind: 'document', source: PDF }), asked()],
  ['audio', asked({ kind: 'audio', mediaType: 'audio/wav', data: 'UklGRg==' }), asked()],
  ['thinking by effort', { thinking: { kind: 'effort', effort: 'high' } }],
  ['thinking by budget', { thinking: { kind: 'budget', tokens: 4_096 } }],
  [
    'earlier thinking of the same provider',
    answer({ kind: 'thinking', text: 'Hm', signature: 's' }),
    answer(),
  ],
  ['cache marks', asked({ kind: 'text', text: 'Long', cache: '5m' }), asked(text('Long'))],
  ['JSON answers', { answerFormat: { kind: 'json' } }],
  [
    'answers with a JSON schema',
    {
      answerFormat: { kind: 'schema', name: 'place', schema: TOOL.schema, isStrict: true },
    },
  ],
  ['several answers', sampled({ choices: 2 })],
  ['top_k', sampled({ topK: 5 })],
  ['seed', sampled({ seed: 7 })],
  ['penalties', sampled({ presencePenalty: 0.5 })],
  ['stop sequences', sampled({ stop: ['END'] })],
  ['logprobs', { logprobs: 2 }],
  ['end user', { endUser: 'user-1' }],
  ['prompt cache key', { promptCacheKey: 'key-1' }],
]

type Cell = 'yes' | 'adapted' | 'partly' | 'lost' | 'refused'

/**
 * Writes a request with one feature in a format, and reads it again. `adapted` is a feature that is
 * read as another one that means nearly the same. `partly` is the same, but the call is told.
 */
function cellOf([, feature, without = {}]: Feature, column: (typeof COLUMNS)[number]): Cell {
  try {
    const { request, losses } = throughFormat({ ...PLAIN, ...feature }, column)
    if (isDeepStrictEqual(request, throughFormat({ ...PLAIN, ...without }, column).request))
      return 'lost'
    if (losses.length > 0) return 'partly'
    return isDeepStrictEqual(request, plain({ ...PLAIN, ...feature })) ? 'yes' : 'adapted'
  } catch (error) {
    if (error instanceof ConversionError) return 'refused'
    throw error
  }
}

/** The caller's request, whose length limits only the references in schemas. */
const NO_BODY = Buffer.alloc(0)

function throughFormat(
  request: CanonicalRequest,
  [, format, conversion, model]: (typeof COLUMNS)[number],
) {
  const target = { format, model, outputTokensMax: 20_000, vendor: chatExtensionsOf(1) }
  const { value: body, losses } = conversion.writeRequest({ ...request, model }, target, NO_BODY)
  const { value } = conversion.readRequest(JSON.parse(JSON.stringify(body)), { ...request, model })
  return { request: plain({ ...value, model: '' }), losses }
}

/** Leaves out members that are undefined. A tool that is not strict need not say so. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (name, member) => (name === 'isStrict' ? member === true : member)),
  )

/** The lines of the matrix in relay/README.md. */
export function matrixLines(): readonly string[] {
  const names = COLUMNS.map(([name]) => name)
  const rows = FEATURES.map((feature) => [
    feature[0],
    ...COLUMNS.map((column) => cellOf(feature, column)),
  ])
  return [['feature', ...names], Array(names.length + 1).fill('---'), ...rows].map(
    (cells) => `| ${cells.join(' | ')} |`,
  )
}
