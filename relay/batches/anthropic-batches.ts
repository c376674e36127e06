import {
  jsonOrEmpty,
  objectOf,
  objectOrEmpty,
  parsedObject,
  textOf,
  textOrEmpty,
} from '#relay/canonical/json-values.ts'
import { redact } from '../canonical/redact-provider-texts.ts'
import { API_VERSION } from '../dialects/anthropic-messages/headers-passed-to-provider.ts'
import { ANTHROPIC_MESSAGES } from '../dialects/anthropic-messages/messages-format.ts'
import {
  type BatchDescription,
  type BatchFailure,
  type BatchProtocol,
  type FindShownLine,
  idIn,
  PROVIDER_ID,
  pathOfBatch,
} from './batch-protocol.ts'
import type { MemberRule, RuleOf } from './filter-json-members.ts'
import { replacedBy, rulesOfShown } from './long-results.ts'

const PUBLIC_PREFIX = 'msgbatch_'
const PUBLIC_ID = /^msgbatch_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/

/** The path of Anthropic's batch API, relative to a channel's base address. */
export const BATCHES_PATH = '/v1/messages/batches'
export const VERSION_HEADERS: Readonly<Record<string, string>> = {
  'anthropic-version': API_VERSION,
}

/**
 * Returns the public id of a batch, which callers see. It is made from the id of the batch's event
 * stream and reveals nothing about the provider.
 */
export const publicIdOf = (batch: string): string => PUBLIC_PREFIX + batch.replaceAll('-', '')

/**
 * Converts the public id of a batch to the id of the batch's event stream. Returns null if the text
 * is not a public id of an Anthropic batch.
 */
export function batchOfId(id: string): string | null {
  const parts = PUBLIC_ID.exec(id)?.slice(1)
  return parts === undefined ? null : parts.join('-')
}

/** The suffix that turns the path of a batch into the path of its results. */
export const RESULTS_ACTION = '/results'

const STATUSES: ReadonlySet<unknown> = new Set(['in_progress', 'canceling', 'ended'])

/** Reads the provider's description of a batch. Returns null if the description is malformed. */
function readDescription(body: Buffer): BatchDescription | null {
  const value = parsedObject(body)
  const { id, processing_status: status, request_counts: counts } = value ?? {}
  if (value === null || typeof id !== 'string' || !PROVIDER_ID.test(id)) return null
  if (!STATUSES.has(status)) return null
  const time = (name: string) => (typeof value[name] === 'string' ? value[name] : null)
  const object = {
    processing_status: status,
    request_counts: countsOf(counts),
    ended_at: time('ended_at'),
    created_at: time('created_at'),
    expires_at: time('expires_at'),
    archived_at: time('archived_at'),
    cancel_initiated_at: time('cancel_initiated_at'),
  }
  const results = pathOfBatch(ANTHROPIC_BATCHES, id, RESULTS_ACTION)
  return { isEnded: status === 'ended', upstreamId: id, results, object }
}

function countsOf(counts: unknown): Record<string, number> {
  const given = objectOf(counts)
  const names = ['processing', 'succeeded', 'errored', 'canceled', 'expired']
  return Object.fromEntries(
    names.map((name) => {
      const count = given?.[name]
      return [name, typeof count === 'number' ? count : 0]
    }),
  )
}

/**
 * Returns the JSON object that describes a batch to the caller. A batch that is not settled is
 * shown as running, so that the caller can't read its results before they are billed.
 */
export function renderBatch(
  batch: string,
  object: Readonly<Record<string, unknown>>,
  isSettled: boolean,
  address: string,
): object {
  const id = publicIdOf(batch)
  const isShownAsEnded = isSettled && object.processing_status === 'ended'
  const status = object.cancel_initiated_at === null ? 'in_progress' : 'canceling'
  return {
    id,
    type: 'message_batch',
    ...object,
    processing_status: isShownAsEnded ? 'ended' : status,
    ended_at: isShownAsEnded ? object.ended_at : null,
    results_url: isShownAsEnded ? `${address}${BATCHES_PATH}/${id}/results` : null,
  }
}

/**
 * Returns the members that describe a failed batch. Anthropic's API has no status for failed
 * batches. The batch is therefore shown as ended, with an additional member `error`.
 */
function describeFailure({ code, message, at, lines, billedLines }: BatchFailure) {
  const errored = lines - billedLines
  return {
    processing_status: 'ended',
    request_counts: { ...countsOf(null), succeeded: billedLines, errored },
    ended_at: new Date(at).toISOString(),
    error: { type: 'api_error', code, message },
  }
}

/** Reads one line of a batch's results. Returns null if the line is malformed. */
function readResult(line: string) {
  const { custom_id: customId, result } = parsedObject(line) ?? {}
  if (typeof customId !== 'string') return null
  const { type, message } = objectOrEmpty(result)
  return { customId, answer: type === 'succeeded' ? objectOf(message) : null }
}

/**
 * Returns one line of a batch's results as the caller receives it. The line names the model as the
 * caller did, and error messages are redacted. An answer that was not billed or is withheld is
 * replaced by an error. Returns null if the line is malformed or does not belong to the batch.
 */
export function renderResult(
  line: string,
  lineOf: FindShownLine,
  confidential: readonly string[],
): string | null {
  const value = parsedObject(line)
  const customId = value?.custom_id
  const result = objectOf(value?.result)
  const shownLine = typeof customId === 'string' ? lineOf(customId) : null
  if (shownLine === null || result === null) return null
  const message = objectOf(result.message)
  if (message !== null) {
    const { model, isBilled, withheld } = shownLine
    if (isBilled && withheld !== undefined) {
      const result = { type: 'errored', error: withheld.body }
      return JSON.stringify({ custom_id: customId, result })
    }
    const answered = { ...result, message: { ...message, model } }
    return (
      (isBilled && jsonOrEmpty({ custom_id: customId, result: answered })) ||
      JSON.stringify({ custom_id: customId, result: NOT_SHOWN })
    )
  }
  const type = textOrEmpty(result.type)
  const error = objectOf(objectOf(result.error)?.error) ?? objectOf(result.error)
  if (error === null) return JSON.stringify({ custom_id: customId, result: { type } })
  const text = redact(textOrEmpty(error.message), confidential)
  const shown = { type: 'error', error: { type: textOf(error.type) ?? 'api_error', message: text } }
  return JSON.stringify({ custom_id: customId, result: { type, error: shown } })
}

const ANSWER = 'result/message'

/**
 * Returns the rules by which a long result is passed on, with the same changes as any other.
 * Returns null if its first members do not show that it contains an answer that was billed.
 */
export function rulesOfLongResult(outline: string, lineOf: FindShownLine): RuleOf | null {
  const { custom_id: customId, result } = parsedObject(outline) ?? {}
  const { type, message } = objectOrEmpty(result)
  const shownLine = typeof customId === 'string' ? lineOf(customId) : null
  const isAnswer = type === 'succeeded' && objectOf(message) !== null
  if (!isAnswer || shownLine?.isBilled !== true) return null
  const rules = new Map<string, MemberRule>([
    ['custom_id', 'pass'],
    ['result/type', 'pass'],
    [`${ANSWER}/model`, replacedBy(shownLine.model)],
  ])
  return rulesOfShown(ANSWER, rules)
}

/**
 * The result that is shown in place of one that was not billed, or that is nested too deeply to be
 * serialized again.
 */
const NOT_SHOWN = {
  type: 'errored',
  error: { type: 'error', error: { type: 'api_error', message: '' } },
}

/** Anthropic's Message Batches API. */
export const ANTHROPIC_BATCHES: BatchProtocol = {
  path: BATCHES_PATH,
  headers: VERSION_HEADERS,
  cancelAction: '/cancel',
  readDescription,
  readId: idIn,
  describeFailure,
  answerPath: ANSWER,
  readResult,
  formatOf: () => ANTHROPIC_MESSAGES,
}
