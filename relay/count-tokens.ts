import { resolveModelSuffix } from './adapters/resolve-model-suffix.ts'
import { isRelayError, type RelayError, relayError } from './canonical/relay-error.ts'
import { readMessagesRequest } from './dialects/anthropic-messages/messages-format.ts'
import { readGeminiCountRequest } from './dialects/gemini/generate-content-format.ts'
import { readResponsesRequest } from './dialects/openai-responses/responses-format.ts'
import type { ChatRequest, StoredReference } from './dialects/wire-format.ts'
import { readGeminiPath } from './gemini-paths.ts'
import { acquirePermit } from './pipeline/acquire-call-permit.ts'
import { authenticate, type Caller } from './pipeline/authenticate.ts'
import { currentCaller } from './pipeline/current-caller.ts'
import { type Exchange, sendError, sendJson } from './pipeline/http-exchange.ts'
import { CopiesOfBody } from './pipeline/memory-of-body-copies.ts'
import { accessError } from './pipeline/model-access-errors.ts'
import { planCall } from './pipeline/plan-call.ts'
import { readBody } from './pipeline/read-body.ts'
import { unpayableContentError } from './pipeline/read-request-with-stored-content.ts'
import type { RelayDeps } from './pipeline/relay-deps.ts'
import { rejectUnreadRequest } from './pipeline/send-error-before-body-is-read.ts'
import { chatBodyShareOf } from './pipeline/user-share-of-body-memory.ts'
import { notFound } from './stored-responses/find-channel-and-key-of-stored-input.ts'
import {
  type BodyLengths,
  insertStoredContent,
  UNPAID_BYTES_MAX,
} from './stored-responses/insert-stored-content-into-request.ts'
import { convertedResponseIdIn } from './stored-responses/recognize-converted-response-id.ts'

/** The functions of a format that read a request for a token count and write the answer. */
type CountWork = {
  readonly read: (upload: Buffer) => ChatRequest | RelayError
  readonly answerOf: (tokens: number) => object
}

const ANTHROPIC_COUNT: CountWork = {
  read: readMessagesRequest,
  answerOf: (tokens) => ({ input_tokens: tokens }),
}

const RESPONSES_COUNT: CountWork = {
  read: (upload) => readResponsesRequest(upload),
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
  work: CountWork,
): Promise<void> {
  const { request, clientIp, startedAt } = exchange
  const authenticated = await authenticate(deps, request, clientIp, startedAt)
  if (isRelayError(authenticated)) return sendError(exchange, authenticated)
  const owner = await chatBodyShareOf(deps, authenticated, request)
  if (isRelayError(owner)) return rejectUnreadRequest(exchange, owner)
  const upload = await readBody(request, deps.bodyMemory, owner)
  if (isRelayError(upload)) return rejectUnreadRequest(exchange, upload)
  try {
    const caller = await currentCaller(deps, authenticated, exchange)
    if (isRelayError(caller)) return sendError(exchange, caller)
    const parsed = work.read(upload)
    if (isRelayError(parsed)) return sendError(exchange, parsed)
    const { adapters } = deps.views.options.options
    const counted = resolveModelSuffix(parsed, deps.views.channels, adapters)
    const { model } = counted
    const error = accessError(caller, deps.views.options.options, counted)
    if (error !== null) return sendError(exchange, error)
    if (!deps.views.channels.isKnown(model)) {
      return sendError(exchange, relayError('model_not_found', { param: 'model', subject: model }))
    }
    const permit = await acquirePermit(deps, caller, counted)
    if (isRelayError(permit)) return sendError(exchange, permit)
    const copies = new CopiesOfBody(deps.bodyMemory, owner)
    let isSuccess = false
    try {
      const body = await completeBody(deps, exchange, caller, counted, {
        ...{ read: work.read, copies },
      })
      if (isRelayError(body)) return sendError(exchange, body)
      isSuccess = true
      const counter = deps.counter.of(caller.user.userId)
      const { input } = await counter.count({ requestBody: body, text: '' })
      sendJson(exchange, 200, work.answerOf(input))
    } finally {
      copies.release()
      permit.release({ isSuccess, tokens: 0 })
    }
  } finally {
    deps.bodyMemory.giveBack(upload.length)
    deps.bodyMemory.release(owner, upload.length)
  }
}

type Completion = Pick<CountWork, 'read'> & {
  /** Reserves memory for the inserted content until the tokens are counted. */
  readonly copies: CopiesOfBody
}

/**
 * Returns the body with the stored content to which it refers, as a call would send it. Returns an
 * error if only a provider has some of the content, because this content would be missing in the
 * count.
 */
async function completeBody(
  deps: RelayDeps,
  exchange: Exchange,
  caller: Caller,
  request: ChatRequest,
  { read, copies }: Completion,
): Promise<Buffer | RelayError> {
  if (request.stored === undefined) return request.body
  const { storesConvertedResponses: isStored } = deps.views.options.options
  // A count costs nothing, but it loads and reads as much content as a call. If there is much
  // content, the caller must therefore be able to pay for a call. The permit was acquired earlier.
  const admitLoading = async ({ paid }: BodyLengths) => {
    if (paid <= UNPAID_BYTES_MAX) return null
    const { stored: _, ...short } = request
    const plan = planCall(deps.views, caller, short, deps.now())
    if (isRelayError(plan)) return plan
    return unpayableContentError(deps, exchange, caller, { request: short, plan, paid })
  }
  const body = isStored
    ? await insertStoredContent(deps, caller, request, copies, admitLoading)
    : null
  if (body !== null && isRelayError(body)) return body
  const complete = body === null ? request : read(body)
  if (isRelayError(complete)) return complete
  const [reference] = complete.stored?.references ?? []
  return reference === undefined ? complete.body : missingInCount(reference, isStored)
}

/**
 * Returns the error for content that is missing in the count. For a converted response, the error
 * says whether the site stores such content. Only the provider has the content of any other
 * response.
 */
const missingInCount = (reference: StoredReference, isStored: boolean): RelayError =>
  convertedResponseIdIn(reference.id) === null
    ? relayError('stored_input', { param: reference.param })
    : notFound(reference, isStored)
