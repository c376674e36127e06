import { createHash } from 'node:crypto'
import {
  jsonOrEmpty,
  numberOf,
  objectOf,
  objectOrEmpty,
  parsedObject,
  textOrEmpty,
} from '#relay/canonical/json-values.ts'
import { redact } from '../canonical/redact-provider-texts.ts'
import { EMBEDDINGS } from '../dialects/embeddings-rerank-moderations/embeddings-format.ts'
import { MODERATIONS } from '../dialects/embeddings-rerank-moderations/moderations-format.ts'
import { OPENAI_CHAT } from '../dialects/openai-chat/chat-format.ts'
import { errorOfChoices } from '../dialects/openai-chat/error-of-failed-choice.ts'
import { OPENAI_COMPLETIONS } from '../dialects/openai-completions/completions-format.ts'
import { OPENAI_IMAGE_EDITS, OPENAI_IMAGES } from '../dialects/openai-images/image-formats.ts'
import { OPENAI_RESPONSES } from '../dialects/openai-responses/responses-format.ts'
import type { WireFormat } from '../dialects/wire-format.ts'
import {
  type BatchDescription,
  type BatchFailure,
  type BatchProtocol,
  type FindShownLine,
  idIn,
  type LineResult,
  PROVIDER_ID,
} from './batch-protocol.ts'
import type { MemberRule, RuleOf } from './filter-json-members.ts'
import { replacedBy, rulesOfShown } from './long-results.ts'

/** The path of OpenAI's batch API, relative to a channel's base address. */
export const OPENAI_BATCHES_PATH = '/v1/batches'
/** The path of OpenAI's API for files, relative to a channel's base address. */
export const FILES_PATH = '/v1/files'

/** The endpoints that the lines of a batch may call, with the wire format of each endpoint. */
export const BATCH_ENDPOINTS: ReadonlyMap<string, WireFormat> = new Map([
  ['/v1/chat/completions', OPENAI_CHAT],
  ['/v1/responses', OPENAI_RESPONSES],
  ['/v1/embeddings', EMBEDDINGS],
  ['/v1/completions', OPENAI_COMPLETIONS],
  ['/v1/moderations', MODERATIONS],
  ['/v1/images/generations', OPENAI_IMAGES],
  ['/v1/images/edits', OPENAI_IMAGE_EDITS],
])

const FORMATS: ReadonlyMap<string, WireFormat> = new Map(
  [...BATCH_ENDPOINTS.values()].map((format) => [format.name, format]),
)

const PUBLIC_ID = /^batch_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/
const FILE_ID = /^file-[0-9a-f]{32}(?:-output|-error)?$/

const hexOf = (id: string): string => id.replaceAll('-', '')

/**
 * Returns the public id of a batch, which callers see. It is made from the id of the batch's event
 * stream and reveals nothing about the provider.
 */
export const openAiIdOf = (batch: string): string => `batch_${hexOf(batch)}`

/**
 * Converts the public id of a batch to the id of the batch's event stream. Returns null if the text
 * is not a public id of an OpenAI batch.
 */
export function openAiBatchOf(id: string): string | null {
  const parts = PUBLIC_ID.exec(id)?.slice(1)
  return parts === undefined ? null : parts.join('-')
}

export const fileIdOf = (call: string): string => `file-${hexOf(call)}`
export const isFileId = (id: string): boolean => FILE_ID.test(id)
/**
 * Returns the public id of a file with the results of a batch. The id depends only on the batch and
 * the kind of file, so registering the file twice has no effect.
 */
export const resultFileIdOf = (batch: string, kind: ResultKind): string =>
  `${fileIdOf(batch)}-${kind}`

export type ResultKind = 'output' | 'error'

const ENDED: ReadonlySet<unknown> = new Set(['completed', 'failed', 'expired', 'cancelled'])
const RUNNING: ReadonlySet<unknown> = new Set([
  ...['validating', 'in_progress', 'finalizing', 'cancelling'],
])
const TIMES = [
  ...['in_progress_at', 'expires_at', 'finalizing_at', 'completed_at', 'failed_at', 'expired_at'],
  ...['cancelling_at', 'cancelled_at'],
] as const
/**
 * The members that state when the batch ended. Callers see these members only once the batch is
 * settled.
 */
const TIMES_OF_END: ReadonlySet<string> = new Set([
  ...['completed_at', 'failed_at', 'expired_at', 'cancelled_at'],
])
const ERRORS_MAX = 100

/** Reads the provider's description of a batch. Returns null if the description is malformed. */
function readDescription(body: Buffer, confidential: readonly string[]): BatchDescription | null {
  const value = parsedObject(body)
  const { id, status } = value ?? {}
  if (value === null || typeof id !== 'string' || !PROVIDER_ID.test(id)) return null
  if (!ENDED.has(status) && !RUNNING.has(status)) return null
  const fileId = (name: string) => {
    const file = value[name]
    return typeof file === 'string' && PROVIDER_ID.test(file) ? file : null
  }
  const [input, output, error] = ['input_file_id', 'output_file_id', 'error_file_id'].map(fileId)
  const counts = objectOf(value.request_counts)
  const countOf = (name: string) => numberOf(counts?.[name]) ?? 0
  const completed = countOf('completed')
  // A provider may report completed lines before it names the file with their results. The batch
  // then does not count as ended, because its results could not be billed.
  const isEnded = ENDED.has(status) && (completed === 0 || output !== null || status === 'failed')
  const object = {
    status,
    ...Object.fromEntries(TIMES.map((name) => [name, numberOf(value[name])])),
    request_counts: { total: countOf('total'), completed, failed: countOf('failed') },
    errors: errorsOf(value.errors, confidential),
    output: output !== null,
    error: error !== null,
    inputFile: input ?? null,
  }
  const files = { input: input ?? null, output: output ?? null, error: error ?? null }
  const results = files.output === null ? null : contentPathOf(files.output)
  return { isEnded, upstreamId: id, results, files, object }
}

export const filePathOf = (upstreamId: string): string =>
  `${FILES_PATH}/${encodeURIComponent(upstreamId)}`
export const contentPathOf = (upstreamId: string): string => `${filePathOf(upstreamId)}/content`

/**
 * Returns the errors with which a provider refused a batch, with redacted messages, or null if
 * there are none.
 */
function errorsOf(errors: unknown, confidential: readonly string[]): object | null {
  const list = objectOf(errors)?.data
  if (!Array.isArray(list)) return null
  const data = list.slice(0, ERRORS_MAX).flatMap((one) => {
    const error = objectOf(one)
    if (error === null) return []
    const message = redact(textOrEmpty(error.message), confidential)
    return [{ ...textsOf(error, ['code', 'param']), message, line: numberOf(error.line) }]
  })
  return { object: 'list', data }
}

const WORD = /^[\w.[\]-]{1,96}$/
const textsOf = (from: Readonly<Record<string, unknown>>, names: readonly string[]) =>
  Object.fromEntries(
    names.map((name) => {
      const text = from[name]
      return [name, typeof text === 'string' && WORD.test(text) ? text : null]
    }),
  )

const describeFailure = ({ code, message, at, lines, billedLines }: BatchFailure) => ({
  status: 'failed',
  failed_at: Math.floor(at / 1_000),
  request_counts: { total: lines, completed: billedLines, failed: lines - billedLines },
  errors: { object: 'list', data: [{ code, message, param: null, line: null }] },
  ...{ output: false, error: false },
})

/** Reads one line of a file with results. Returns null if the line is malformed. */
function readResult(line: string): LineResult | null {
  const { custom_id: customId, response } = parsedObject(line) ?? {}
  if (typeof customId !== 'string') return null
  const { status_code: status, request_id: requestId, body } = objectOrEmpty(response)
  return { customId, answer: isSuccess(status) ? objectOf(body) : null, requestId }
}

const ANSWER = 'response/body'
const isSuccess = (status: unknown): boolean =>
  typeof status === 'number' && status >= 200 && status <= 299

/** OpenAI's batch API. The requests of a batch are the lines of an uploaded file. */
export const OPENAI_BATCHES: BatchProtocol = {
  path: OPENAI_BATCHES_PATH,
  headers: {},
  cancelAction: '/cancel',
  readDescription,
  readId: idIn,
  describeFailure,
  answerPath: ANSWER,
  readResult,
  formatOf: (name = '') => FORMATS.get(name) ?? OPENAI_CHAT,
}

/** The members of the caller's submission that are needed later. Descriptions repeat the first. */
export type OpenAiBatchRequest = {
  readonly endpoint: string
  readonly input_file_id: string
  readonly metadata: Readonly<Record<string, string>> | null
  /**
   * The lifetime of the files with results. Omitted if the caller requested none, and in batches
   * that an earlier version has stored. The provider does not get it, because it could delete the
   * results before they are billed.
   */
  readonly outputLifetimeMs?: number
}

/**
 * Returns the JSON object that describes a batch to the caller. A batch that is not settled is
 * shown as running and without results, so that no result is read before it is billed.
 */
export function renderOpenAiBatch(
  { batch, submittedAt, isSettled }: BatchFacts,
  request: OpenAiBatchRequest | null,
  object: Readonly<Record<string, unknown>> | null,
): object {
  const status = object?.status ?? 'validating'
  const isHidden = !isSettled && ENDED.has(status)
  const times = TIMES.map((name) => {
    const isShown = isSettled || !TIMES_OF_END.has(name)
    return [name, isShown ? (object?.[name] ?? null) : null]
  })
  const resultOf = (kind: ResultKind) =>
    isSettled && object?.[kind] === true ? resultFileIdOf(batch, kind) : null
  return {
    id: openAiIdOf(batch),
    object: 'batch',
    endpoint: request?.endpoint ?? null,
    errors: object?.errors ?? null,
    input_file_id: request?.input_file_id ?? null,
    completion_window: '24h',
    status: isHidden ? 'finalizing' : status,
    output_file_id: resultOf('output'),
    error_file_id: resultOf('error'),
    created_at: Math.floor(submittedAt / 1_000),
    ...Object.fromEntries(times),
    request_counts: object?.request_counts ?? { total: 0, completed: 0, failed: 0 },
    metadata: request?.metadata ?? null,
  }
}

type BatchFacts = {
  readonly batch: string
  readonly submittedAt: number
  readonly isSettled: boolean
}

/** The error of a line without a result, or whose result is nested too deeply. */
const NO_RESULT = {
  code: 'server_error',
  message: 'The provider returned no usable result for this request.',
}

/**
 * Returns one line of a file with results as the caller receives it: with the gateway's ids and the
 * caller's name for the model. Returns null for a line that does not belong to the batch, and for
 * an answer in the error file. An answer that was not billed is replaced by its error, and one that
 * is withheld by the reason. `lineOf` returns a line that was not billed only if all results could
 * be read, so that the line failed.
 */
export function renderOpenAiResult(
  line: string,
  kind: ResultKind,
  lineOf: FindShownLine,
  confidential: readonly string[],
): string | null {
  const value = parsedObject(line)
  const customId = value?.custom_id
  const shownLine = typeof customId === 'string' ? lineOf(customId) : null
  if (value === null || shownLine === null) return null
  const id = requestIdOf(customId)
  const common = { id: `batch_req_${id}`, custom_id: customId }
  const response = objectOf(value.response)
  if (response === null) {
    const error = errorOf(value.error, confidential) ?? NO_RESULT
    return JSON.stringify({ ...common, response: null, error })
  }
  const { status_code, body } = response
  const shown = { status_code: numberOf(status_code), request_id: id }
  const answer = objectOf(body)
  if (isSuccess(status_code)) {
    const { model, isBilled, withheld } = shownLine
    const { error: reported = errorOfChoices(answer?.choices)?.error } = answer ?? {}
    const failure = errorOf(reported, confidential)
    if (answer === null || (kind === 'error' && failure === null)) return null
    if (kind === 'error' || !isBilled) {
      return JSON.stringify({ ...common, response: null, error: failure ?? NO_RESULT })
    }
    if (withheld !== undefined) {
      const response = { status_code: withheld.status, request_id: id, body: withheld.body }
      return JSON.stringify({ ...common, response, error: null })
    }
    const own = 'model' in answer ? { ...answer, model } : answer
    return (
      jsonOrEmpty({ ...common, response: { ...shown, body: own }, error: null }) ||
      JSON.stringify({ ...common, response: null, error: NO_RESULT })
    )
  }
  const error = errorOf(answer?.error, confidential)
  return JSON.stringify({ ...common, response: { ...shown, body: { error } }, error: null })
}

/** Returns the gateway's id for the request of a line. It replaces the provider's id. */
const requestIdOf = (customId: unknown): string =>
  createHash('sha256').update(`${customId}`).digest('hex').slice(0, 32)

/**
 * Returns the rules by which a long result is passed on, with the same changes as any other.
 * Returns null if its first members do not show that it contains an answer that was billed.
 */
export function rulesOfLongOpenAiResult(
  outline: string,
  kind: ResultKind,
  lineOf: FindShownLine,
): RuleOf | null {
  const { custom_id: customId, response } = parsedObject(outline) ?? {}
  const { status_code: status, body } = objectOrEmpty(response)
  const shownLine = typeof customId === 'string' ? lineOf(customId) : null
  const isAnswer = kind === 'output' && isSuccess(status) && objectOf(body) !== null
  if (!isAnswer || shownLine?.isBilled !== true) return null
  const id = requestIdOf(customId)
  const rules = new Map<string, MemberRule>([
    ['id', replacedBy(`batch_req_${id}`)],
    ['custom_id', 'pass'],
    ['response/status_code', 'pass'],
    ['response/request_id', replacedBy(id)],
    [`${ANSWER}/model`, replacedBy(shownLine.model)],
    ['error', replacedBy(null)],
  ])
  return rulesOfShown(ANSWER, rules)
}

function errorOf(error: unknown, confidential: readonly string[]): object | null {
  const given = objectOf(error)
  if (given === null) return null
  const message = redact(textOrEmpty(given.message), confidential)
  return { message, ...textsOf(given, ['type', 'param', 'code']) }
}
