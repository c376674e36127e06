import { resolveModelSuffix } from './adapters/resolve-model-suffix.ts'
import { isRelayError, type RelayError, relayError } from './canonical/relay-error.ts'
import { readMessagesRequest } from './dialects/anthropic-messages/messages-request.ts'
import { readGeminiCountRequest } from './dialects/gemini/generate-request.ts'
import { readResponsesRequest } from './dialects/openai-responses/responses-request.ts'
import type { ChatRequest } from './dialects/wire-format.ts'
import { readGeminiPath } from './gemini-paths.ts'
import { acquirePermit } from './pipeline/acquire-call-permit.ts'
import { authenticate } from './pipeline/authenticate.ts'
import { chatBodyShareOf } from './pipeline/body-memory-limit-of-user.ts'
import { type Exchange, sendError, sendJson } from './pipeline/http-exchange.ts'
import { accessError } from './pipeline/plan-alternative.ts'
import { readBody } from './pipeline/read-body.ts'
import type { RelayDeps } from './pipeline/relay-deps.ts'
import { rejectUnreadRequest } from './pipeline/send-error-before-body-is-read.ts'

/** The functions of a format that read a request to count tokens and write its answer. */
type CountWork = {
  readonly read: (upload: Buffer) => ChatRequest | RelayError
  readonly answerOf: (tokens: number) => object
}

const ANTHROPIC_COUNT: CountWork = {
  read: readMessagesRequest,
  answerOf: (tokens) => ({ input_tokens: tokens }),
}

const RESPONSES_COUNT: CountWork = {
  read: (upload) => {
    const request = readResponsesRequest(upload)
    if (isRelayError(request) || request.stored === undefined) return request
    // The stored input would be missing in the count.
    return relayError('stored_input', { param: request.stored.references[0]?.param ?? 'input' })
  },
  answerOf: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
}

/**
 * Returns the functions for a path at which tokens are counted: Anthropic's
 * `/v1/messages/count_tokens`, OpenAI's `/v1/responses/input_tokens` or Gemini's
 * `/v1beta/models/{model}:countTokens`. Returns null for any other path.
 */
export function countWorkAt(path: string): CountWork | null {
  if (path === '/v1/messages/count_tokens') return ANTHROPIC_COUNT
  if (path === '/v1/responses/input_tokens') return RESPONSES_COUNT
  const gemini = readGeminiPath(path)
  if (gemini?.method !== 'countTokens') return null
  return {
    read: (upload) => readGeminiCountRequest(upload, gemini),
    answerOf: (tokens) => ({ totalTokens: tokens }),
  }
}

/**
 * Counts the tokens of a request. The gateway counts them itself. The count costs nothing, and no
 * answer is generated. The request counts towards the limits of calls.
 */
export async function countTokens(
  deps: RelayDeps,
  exchange: Exchange,
  { read, answerOf }: CountWork,
): Promise<void> {
  const { request, clientIp, startedAt } = exchange
  const caller = await authenticate(deps, request, clientIp, startedAt)
  if (isRelayError(caller)) return sendError(exchange, caller)
  const owner = await chatBodyShareOf(deps, caller, request)
  if (isRelayError(owner)) return rejectUnreadRequest(exchange, owner)
  const upload = await readBody(request, deps.bodyMemory, owner)
  if (isRelayError(upload)) return rejectUnreadRequest(exchange, upload)
  try {
    const parsed = read(upload)
    if (isRelayError(parsed)) return sendError(exchange, parsed)
    const { adapters } = deps.views.options.options
    const counted = resolveModelSuffix(parsed, deps.views.channels, adapters)
    const { model, body } = counted
    const error = accessError(caller, deps.views.options.options, counted)
    if (error !== null) return sendError(exchange, error)
    if (!deps.views.channels.isKnown(model)) {
      return sendError(exchange, relayError('model_not_found', { param: 'model', subject: model }))
    }
    const permit = await acquirePermit(deps, caller, counted)
    if (isRelayError(permit)) return sendError(exchange, permit)
    try {
      const counter = deps.counter.of(caller.user.userId)
      const { input } = await counter.count({ requestBody: body, text: '' })
      sendJson(exchange, 200, answerOf(input))
    } finally {
      permit.release({ isSuccess: true, tokens: 0 })
    }
  } finally {
    deps.bodyMemory.giveBack(upload.length)
    deps.bodyMemory.release(owner, upload.length)
  }
}
