import {
  type JsonObject,
  numericOf,
  objectOrEmpty,
  objectsOf,
  parsedObject,
} from '#relay/canonical/json-values.ts'
import { eventData, SseScanner } from '#relay/canonical/sse-scanner.ts'
import { DONE_EVENT, dataEvent } from '#relay/conversion/write-server-sent-events.ts'
import type {
  AnswerDecoder,
  DecoderFault,
  StreamDecoder,
} from '../provider-access-and-decoder-types.ts'

/**
 * MiniMax's error codes by their cause (platform.minimax.io/docs/api-reference/errorcode). A
 * response with an error has the HTTP status 200, and its member `base_resp` contains the code. The
 * code 1008 means an empty balance, and 2056 a used-up plan. The code 2061 means a model that the
 * plan does not include.
 */
export const MINIMAX_CODES = {
  key: [1004, 2049],
  account: [1008, 2056],
  model: [2061],
  limit: [1002, 1039, 1041, 2045],
  provider: [1000, 1001, 1024, 1033],
} as const

/** MiniMax's codes for parameters or contents of a request, such as sensitive input (1026). */
const REQUEST_CODES = [1026, 1027, 1042, 2013]

/** The HTTP status and OpenAI's name for the cause of an error of MiniMax. */
type Meaning = { readonly status: number; readonly type: string }

const meaning = (status: number, type: string, codes: readonly number[]) =>
  codes.map((code) => [code, { status, type }] as const)

const MEANINGS: ReadonlyMap<number, Meaning> = new Map([
  ...meaning(401, 'invalid_api_key', MINIMAX_CODES.key),
  ...meaning(402, 'insufficient_quota', MINIMAX_CODES.account),
  ...meaning(404, 'model_not_found', MINIMAX_CODES.model),
  ...meaning(429, 'rate_limit_exceeded', MINIMAX_CODES.limit),
  ...meaning(400, 'invalid_request_error', REQUEST_CODES),
])
const UNKNOWN_ERROR: Meaning = { status: 502, type: 'server_error' }
const ACCOUNT_ERRORS: ReadonlySet<number> = new Set([
  ...MINIMAX_CODES.key,
  ...MINIMAX_CODES.account,
])

/**
 * Returns OpenAI's name for a code of MiniMax that reports an error of the site's key or account.
 * Returns any other code unchanged.
 */
export const accountErrorOfMiniMax = (code: unknown): unknown =>
  typeof code === 'number' && ACCOUNT_ERRORS.has(code) ? MEANINGS.get(code)?.type : code

/** An error of MiniMax in OpenAI's format, and the HTTP status for the cause of the error. */
type Refusal = { readonly status: number; readonly body: JsonObject }

/** The maximum length in bytes of a complete answer that is parsed to find an error. */
const ERROR_BYTES_MAX = 64 * 1024

/**
 * Returns the error in an answer or an event, converted to OpenAI's format. Returns null if there
 * is none. An answer with choices is not an error, even if its code reports sensitive output.
 */
function refusalIn({ choices, base_resp, usage }: JsonObject): Refusal | null {
  const { status_code: sentCode, status_msg: words } = objectOrEmpty(base_resp)
  const isAnswer = Array.isArray(choices) && choices.length > 0
  const code = numericOf(sentCode ?? 0)
  if (isAnswer || code === 0) return null
  const { status, type } = MEANINGS.get(code) ?? UNKNOWN_ERROR
  const message = typeof words === 'string' && words !== '' ? words : `The error code is ${code}.`
  const error = { message, type, param: null, code: type }
  // Reported usage is charged even if the provider withholds the rest of the answer.
  const isUsed = Object.values(objectOrEmpty(usage)).some((count) => numericOf(count) > 0)
  return { status, body: { error, ...(isUsed ? { usage } : {}) } }
}

/**
 * Returns the HTTP status for the cause of an error that an answer with the status 200 reports, or
 * null if the answer reports no error.
 */
export const errorStatusOfMiniMax = ({ base_resp }: JsonObject): number | null =>
  refusalIn({ base_resp })?.status ?? null

const refusalInBody = (body: Buffer): Refusal | null =>
  body.length > ERROR_BYTES_MAX ? null : refusalIn(parsedObject(body) ?? {})

/**
 * Passes MiniMax's events on unchanged, except that errors and the event that repeats the complete
 * answer are converted to OpenAI's format. Only complete events are passed on. Otherwise, part of
 * an error could be sent before the error is recognized. After an error, nothing is passed on.
 */
class MiniMaxStream implements StreamDecoder {
  errorStatus: number | null = null
  private decoded: Buffer[] = []
  private hasDelta = false
  private hasAnswerEnded = false
  private hasStreamEnded = false
  private readonly scanner = new SseScanner(
    {
      pass: (bytes) => this.pass(bytes),
      onMarkedEvent: (bytes) => this.inspect(bytes),
      onLastEvent: (bytes) => this.pass(bytes),
    },
    () => false,
    ['"base_resp"'],
  )

  get fault(): DecoderFault | null {
    return this.scanner.overflow === null ? null : 'too-large'
  }

  push(chunk: Buffer): Buffer {
    this.scanner.push(chunk)
    return this.takeDecoded()
  }

  end(): Buffer {
    const last = this.scanner.rest()
    if (last.length > 0) this.inspect(last)
    // MiniMax may close the connection after the complete answer, without the event `[DONE]`.
    if (this.hasAnswerEnded && !this.hasStreamEnded) this.pass(Buffer.from(DONE_EVENT))
    return this.takeDecoded()
  }

  private takeDecoded(): Buffer {
    const { decoded } = this
    this.decoded = []
    return Buffer.concat(decoded)
  }

  private pass(bytes: Buffer): void {
    this.hasDelta ||= bytes.includes('"delta"')
    this.hasStreamEnded ||= bytes.includes('data: [DONE]')
    if (this.errorStatus === null) this.decoded.push(bytes)
  }

  private inspect(bytes: Buffer): void {
    const event = parsedObject(eventData(bytes) ?? '') ?? {}
    const refusal = refusalIn(event)
    if (refusal !== null) this.pass(Buffer.from(dataEvent(refusal.body)))
    else if (event.object === 'chat.completion') {
      this.hasAnswerEnded = true
      this.pass(Buffer.from(dataEvent(lastChunk(event, this.hasDelta))))
    } else this.pass(bytes)
    this.errorStatus ??= refusal?.status ?? null
  }
}

/**
 * Converts the event that repeats the complete answer to a chunk without the messages. If no delta
 * was sent before (`hasDelta` is false), the chunk contains the messages.
 */
function lastChunk(
  { choices, base_resp: _base, ...answer }: JsonObject,
  hasDelta: boolean,
): JsonObject {
  const ends = objectsOf(choices).map(({ index, message, finish_reason }) => ({
    ...{ index: index ?? 0, delta: hasDelta ? {} : objectOrEmpty(message) },
    finish_reason: finish_reason ?? 'stop',
  }))
  return { ...answer, object: 'chat.completion.chunk', choices: ends }
}

/**
 * Converts the errors that MiniMax's chats return with the HTTP status 200, and the event of a
 * stream that repeats the complete answer. All other answers and events are already in OpenAI's
 * format.
 */
export const MINIMAX_CHAT_ERRORS: AnswerDecoder = {
  mediaType: 'text/event-stream',
  createStream: () => new MiniMaxStream(),
  readAnswer: (body) => {
    const refusal = refusalInBody(body)
    return refusal === null ? null : { kind: 'refused', status: refusal.status }
  },
  errorBody: (body) => {
    const refusal = refusalInBody(body)
    return refusal === null ? null : Buffer.from(JSON.stringify(refusal.body))
  },
}
