import {
  type JsonObject,
  jsonOrEmpty,
  numericOf,
  objectOf,
  objectOrEmpty,
  parsedObject,
  scalarText,
  textOrEmpty,
} from '#relay/canonical/json-values.ts'
import { redact } from '../canonical/redact-provider-texts.ts'
import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { GEMINI } from '../dialects/gemini/generate-content-format.ts'
import { isOtherModel } from '../dialects/gemini/model-named-in-body.ts'
import { jsonError } from '../dialects/invalid-json-error.ts'
import { isMembers } from '../dialects/read-common-request-members.ts'
import { scanObject } from '../dialects/scan-request-object.ts'
import {
  type BatchDescription,
  type BatchFailure,
  type BatchProtocol,
  type LineResult,
  PROVIDER_ID,
  pathOfBatch,
  type ShownLine,
  type WithheldError,
} from './batch-protocol.ts'
import type { MemberRule, RuleOf } from './filter-json-members.ts'
import { replacedBy, rulesOfShown } from './long-results.ts'
import { type BatchLine, LINES_MAX } from './read-anthropic-batch-request.ts'
import { JsonArraySplitter, type SplitRules, UnsplittableJson } from './split-json-array.ts'

const MIB = 1024 * 1024
/** The path of Gemini's batch API, relative to a channel's base address. */
export const GEMINI_BATCHES_PATH = '/v1beta/batches'
const PUBLIC_ID = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/
const TYPE = 'type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch'
const REQUESTS = 'batch/inputConfig/requests/requests'
const NAME_LENGTH_MAX = 256
const METADATA_BYTES_MAX = 8_192
/** The number of bytes that are read before the event loop may do other work. */
const CHUNK_BYTES = 64 * 1024

/**
 * Returns the public id of a batch, which callers see. Gemini's name of a batch is `batches/`
 * followed by this id.
 */
export const geminiIdOf = (batch: string): string => batch.replaceAll('-', '')

/**
 * Converts the public id of a batch to the id of the batch's event stream. Returns null if the text
 * is not a public id of a Gemini batch.
 */
export function geminiBatchOf(id: string): string | null {
  const parts = PUBLIC_ID.exec(id)?.slice(1)
  return parts === undefined ? null : parts.join('-')
}

const invalid = (param: string): RelayError => relayError('invalid_parameter', { param })

/** Returns the error with the JSON path of the faulty request before its parameter name. */
export function inGeminiRequest(error: RelayError, index: number, prefix = ''): RelayError {
  const { param } = error.params
  const root = `batch.input_config.requests.requests[${index}]`
  const path = [root, prefix, param ?? ''].filter((part) => part !== '').join('.')
  return { ...error, params: { ...error.params, param: path } }
}

export type GeminiBatch = BatchMembers & { readonly lines: readonly BatchLine[] }
type BatchMembers = {
  readonly displayName: string
  /** The members that are not sent. */
  readonly dropped: readonly string[]
}

/**
 * Reads the body of a request that submits a batch, and checks each request of the batch
 * separately. A body that names a file with requests is refused. At the provider, the files of all
 * callers belong to the site's account, so a caller could name the file of another caller. `model`
 * is the model in the path of the request.
 */
export async function readGeminiBatch(
  body: Buffer,
  model: string,
): Promise<GeminiBatch | RelayError> {
  const splitter = new JsonArraySplitter({
    ...{ paths: [REQUESTS], elementBytesMax: 32 * MIB, restBytesMax: 64 * 1024 },
  })
  const lines: BatchLine[] = []
  try {
    for (let at = 0; at < body.length; at += CHUNK_BYTES) {
      for (const element of splitter.push(body.subarray(at, at + CHUNK_BYTES))) {
        if (!Buffer.isBuffer(element)) continue
        const line = readLine(element, lines.length)
        if (isRelayError(line)) return inGeminiRequest(line, lines.length)
        if (lines.length === LINES_MAX) return invalid('batch.input_config.requests')
        lines.push(line)
      }
      await new Promise((resume) => setImmediate(resume))
    }
  } catch (error) {
    if (error instanceof UnsplittableJson) return invalid('batch.input_config')
    throw error
  }
  const members = readMembers(splitter.rest, model)
  if (isRelayError(members)) return members
  return lines.length === 0 ? invalid('batch.input_config.requests') : { lines, ...members }
}

/**
 * Reads the members of a submission, after the requests were removed from its body. Returns an
 * error if the body has unknown or invalid members. The priority is not sent, because it would put
 * the caller's batches before those of other callers, who share the account at the provider.
 */
function readMembers(rest: Buffer, model: string): BatchMembers | RelayError {
  const members = scanObject(rest)
  if (!isMembers(members)) return jsonError(rest, members)
  const value = parsedObject(rest)
  const batch = objectOf(value?.batch)
  if (value === null || batch === null) return invalid('batch')
  const { batch: _, ...others } = value
  const { displayName, display_name, inputConfig, input_config, priority, ...remaining } = batch
  const { model: named = null, ...more } = remaining
  const input = objectOf(inputConfig ?? input_config)
  const requests = objectOf(input?.requests)
  const [other] = [...Object.keys(others), ...Object.keys(more).map((key) => `batch.${key}`)]
  if (other !== undefined) return relayError('parameter_not_supported', { param: other })
  const isAmbiguous = displayName !== undefined && display_name !== undefined
  if (isAmbiguous || (inputConfig !== undefined && input_config !== undefined)) {
    return invalid('batch')
  }
  const [misplaced] = Object.keys(input ?? {}).filter((key) => key !== 'requests')
  if (misplaced !== undefined) {
    const param = `batch.input_config.${misplaced}`
    return relayError('parameter_not_supported', { param })
  }
  const isWhole = Object.keys(requests ?? {}).every((key) => key === 'requests')
  if (requests === null || !isWhole) return invalid('batch.input_config.requests')
  const name = displayName ?? display_name ?? ''
  if (typeof name !== 'string' || name.length > NAME_LENGTH_MAX) {
    return invalid('batch.display_name')
  }
  if (named !== null && (typeof named !== 'string' || isOtherModel(named, { model }))) {
    return invalid('batch.model')
  }
  const hasPriority = priority !== undefined && priority !== null
  return { displayName: name.toWellFormed(), dropped: hasPriority ? ['batch.priority'] : [] }
}

function readLine(element: Buffer, index: number): BatchLine | RelayError {
  const members = scanObject(element)
  if (!isMembers(members)) return jsonError(element, members)
  const other = members.find(({ key }) => key !== 'request' && key !== 'metadata')
  if (other !== undefined) return relayError('parameter_not_supported', { param: other.key })
  const request = members.find(({ key }) => key === 'request')
  if (request === undefined) return relayError('missing_parameter', { param: 'request' })
  if (request.kind !== 'object') return invalid('request')
  const params = element.subarray(request.valueStart, request.valueEnd)
  const metadata = members.find(({ key, kind }) => key === 'metadata' && kind !== 'null')
  const line = { customId: String(index), params }
  if (metadata === undefined) return line
  const bytes = element.subarray(metadata.valueStart, metadata.valueEnd)
  if (metadata.kind !== 'object' || bytes.length > METADATA_BYTES_MAX) return invalid('metadata')
  return { ...line, metadata: bytes }
}

const RESULTS = 'inlinedResponses/inlinedResponses'
/**
 * The rules by which a provider's description of a batch is split. The results in the description
 * are read one by one. The caller's requests, which the description repeats, are dropped.
 */
export const RESULT_RULES: SplitRules = {
  paths: [`metadata/output/${RESULTS}`, `response/${RESULTS}`],
  dropped: ['metadata/inputConfig/requests/requests'],
  elementBytesMax: 64 * MIB,
  longElements: 'pieces',
  restBytesMax: MIB,
}

const STATE = /^(?:BATCH|JOB)_STATE_(PENDING|RUNNING|SUCCEEDED|FAILED|CANCELLED|EXPIRED)$/
const RUNNING: ReadonlySet<string> = new Set(['PENDING', 'RUNNING'])
const COUNTS = [
  ...['requestCount', 'successfulRequestCount', 'failedRequestCount', 'pendingRequestCount'],
]

/** Reads the provider's id of a batch from its name (`batches/ID`). */
function readId(body: Buffer): string | null {
  const name = parsedObject(body)?.name
  const id = typeof name === 'string' ? name.replace(/^batches\//, '') : ''
  return PROVIDER_ID.test(id) ? id : null
}

/**
 * Reads the provider's description of a batch, after the results were removed from it. `hasResults`
 * is true if the description had results. Returns null if the description is malformed.
 */
function readDescription(
  body: Buffer,
  confidential: readonly string[],
  hasResults = false,
): BatchDescription | null {
  const value = parsedObject(body)
  const { error } = value ?? {}
  const id = readId(body)
  const metadata = objectOf(value?.metadata)
  const [, stateName] = STATE.exec(textOrEmpty(metadata?.state)) ?? []
  const state = stateName ?? (objectOf(error) === null ? undefined : 'FAILED')
  if (id === null || state === undefined) return null
  const stats = objectOf(metadata?.batchStats)
  const countOf = (count: string) => String(numericOf(stats?.[count]) || 0)
  const time = (key: string) => {
    const text = metadata?.[key]
    return typeof text === 'string' ? { [key]: text } : {}
  }
  const object = {
    state,
    ...{ ...time('createTime'), ...time('updateTime'), ...time('endTime') },
    batchStats: Object.fromEntries(COUNTS.map((count) => [count, countOf(count)])),
    error: errorOf(error, confidential),
    hasResults,
  }
  // A description may count successful requests before it contains their results. The batch then
  // does not count as ended, because its results could not be billed.
  const isComplete = hasResults || countOf('successfulRequestCount') === '0'
  const isEnded = !RUNNING.has(state) && (isComplete || state === 'FAILED')
  const results = hasResults ? pathOfBatch(GEMINI_BATCHES, id) : null
  return { isEnded, upstreamId: id, results, object }
}

/**
 * Returns the code of a provider's error and its redacted message, or null if the value is not an
 * error.
 */
function errorOf(error: unknown, confidential: readonly string[]): object | null {
  const given = objectOf(error)
  if (given === null) return null
  const { code, message } = given
  const text = redact(textOrEmpty(message), confidential)
  return { code: typeof code === 'number' ? code : 13, message: text }
}

function describeFailure({ message, at, lines, billedLines }: BatchFailure) {
  const [requestCount, failed, successful] = [lines, lines - billedLines, billedLines].map(String)
  const counts = { failedRequestCount: failed, successfulRequestCount: successful }
  return {
    state: 'FAILED',
    endTime: new Date(at).toISOString(),
    batchStats: { requestCount, ...counts, pendingRequestCount: '0' },
    error: { code: 13, message },
    hasResults: false,
  }
}

/**
 * Reads one result. Results have no ids and are in the order of the requests, so the index of a
 * result identifies its request. Returns null if the result is malformed.
 */
function readResult(element: string, index: number): LineResult | null {
  const value = parsedObject(element)
  if (value === null) return null
  return { customId: String(index), answer: objectOf(value.response) }
}

const ANSWER = 'response'

/** Google's code for an invalid argument. Errors of results have such codes, not HTTP statuses. */
const INVALID_ARGUMENT = 3

function statusOf({ body }: WithheldError): object {
  const { message, details } = objectOrEmpty((body as JsonObject).error)
  return { code: INVALID_ARGUMENT, message, details }
}

/** Gemini's batch API. The requests of a batch are in the body of the submission. */
export const GEMINI_BATCHES: BatchProtocol = {
  path: GEMINI_BATCHES_PATH,
  headers: {},
  cancelAction: ':cancel',
  readDescription: (body, confidential) => readDescription(body, confidential),
  readId,
  splits: {
    rules: RESULT_RULES,
    readDescription: (rest, hasResults, confidential) =>
      readDescription(rest, confidential, hasResults),
  },
  describeFailure,
  answerPath: ANSWER,
  readResult,
  formatOf: () => GEMINI,
}

/** The members of the caller's submission that later descriptions of the batch repeat. */
export type GeminiBatchRequest = { readonly model: string; readonly displayName: string }

/**
 * Returns the JSON object that describes a batch to the caller, without its results. A batch that
 * is not settled is shown as running, so that no result is read before it is billed.
 */
export function renderGeminiBatch(
  { batch, isSettled, submittedAt }: { batch: string; isSettled: boolean; submittedAt: number },
  request: GeminiBatchRequest | null,
  object: Readonly<Record<string, unknown>> | null,
): { readonly done?: true; readonly metadata: object; readonly [name: string]: unknown } {
  const name = `batches/${geminiIdOf(batch)}`
  const { state = 'PENDING', error = null, batchStats, ...times } = object ?? {}
  const { hasResults: _, endTime, ...early } = times
  const isHidden = !isSettled && !RUNNING.has(scalarText(state))
  const metadata = {
    ...{ '@type': TYPE, name, model: `models/${request?.model ?? ''}` },
    displayName: request?.displayName ?? '',
    createTime: new Date(submittedAt).toISOString(),
    ...early,
    ...(isSettled && endTime !== undefined ? { endTime } : {}),
    ...(batchStats === undefined ? {} : { batchStats }),
    state: `BATCH_STATE_${isHidden ? 'RUNNING' : scalarText(state)}`,
  }
  if (!isSettled || RUNNING.has(scalarText(state))) return { name, metadata }
  return { name, metadata, done: true, ...(error === null ? {} : { error }) }
}

/**
 * Returns the JSON text of one result as the caller receives it. The result names the model as the
 * caller did, and error messages are redacted. An answer that was not billed, is withheld or is
 * nested too deeply is replaced by an error.
 */
export function renderGeminiResult(
  element: string,
  { model, isBilled, withheld }: ShownLine,
  confidential: readonly string[],
): string {
  const value = parsedObject(element) ?? {}
  const metadata = jsonOrEmpty(value.metadata) === '' ? null : objectOf(value.metadata)
  const ofCaller = metadata === null ? {} : { metadata }
  const response = objectOf(value.response)
  if (response !== null && isBilled) {
    if (withheld !== undefined) return JSON.stringify({ ...ofCaller, error: statusOf(withheld) })
    const shown = 'modelVersion' in response ? { ...response, modelVersion: model } : response
    const json = jsonOrEmpty({ ...ofCaller, response: shown })
    if (json !== '') return json
  }
  const error = errorOf(value.error, confidential) ?? { code: 13, message: '' }
  return JSON.stringify({ ...ofCaller, error })
}

/**
 * Returns the rules by which a long result is passed on, with the same changes as any other.
 * Returns null if its first members do not show that it contains an answer, or if it was not
 * billed.
 */
export function rulesOfLongGeminiResult(
  outline: string,
  { model, isBilled }: ShownLine,
): RuleOf | null {
  if (!isBilled || objectOf(parsedObject(outline)?.response) === null) return null
  const rules = new Map<string, MemberRule>([
    ['metadata', 'pass'],
    [`${ANSWER}/modelVersion`, replacedBy(model)],
  ])
  return rulesOfShown(ANSWER, rules)
}
