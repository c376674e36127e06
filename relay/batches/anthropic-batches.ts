import { redact } from '../canonical/redact-provider-texts.ts'
import { API_VERSION } from '../dialects/anthropic-messages/headers-passed-to-provider.ts'
import { ANTHROPIC_MESSAGES } from '../dialects/anthropic-messages/messages-request.ts'
import {
  type BatchDescription,
  type BatchFailure,
  type BatchProtocol,
  objectIn,
  PROVIDER_ID,
  recordOf,
} from './provider-batch-api.ts'

const PUBLIC_PREFIX = 'msgbatch_'
const PUBLIC_ID = /^msgbatch_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/

/** The path of batches below a channel's address. */
export const BATCHES_PATH = '/v1/messages/batches'
export const VERSION_HEADERS: Readonly<Record<string, string>> = {
  'anthropic-version': API_VERSION,
}

/** Returns the id that callers see. It reveals nothing about the provider. */
export const publicIdOf = (batch: string): string => PUBLIC_PREFIX + batch.replaceAll('-', '')

/** Returns the id of the batch's stream, or null if callers never got such an id. */
export function batchOfId(id: string): string | null {
  const parts = PUBLIC_ID.exec(id)?.slice(1)
  return parts === undefined ? null : parts.join('-')
}

/** Reads the provider's description of a batch. Returns null if the description is malformed. */
function readDescription(body: Buffer): BatchDescription | null {
  const value = objectIn(body.toString('utf8'))
  const { id, processing_status: status, request_counts: counts } = value ?? {}
  if (value === null || typeof id !== 'string' || !PROVIDER_ID.test(id)) return null
  if (!['in_progress', 'canceling', 'ended'].includes(String(status))) return null
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
  const results = `${BATCHES_PATH}/${encodeURIComponent(id)}/results`
  return { isEnded: status === 'ended', upstreamId: id, results, object }
}

function countsOf(counts: unknown): Record<string, number> {
  const given = recordOf(counts)
  const names = ['processing', 'succeeded', 'errored', 'canceled', 'expired']
  return Object.fromEntries(
    names.map((name) => {
      const count = given?.[name]
      return [name, typeof count === 'number' ? count : 0]
    }),
  )
}

/**
 * Renders a batch for the caller. A batch that is not settled is shown as running, so that its
 * results can't be read before they are billed.
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

/** Anthropic's batches have no state of failure, so an ended batch gets an error of its API. */
function describeFailure({ code, message, at, lines, billedLines }: BatchFailure) {
  const errored = lines - billedLines
  return {
    processing_status: 'ended',
    request_counts: { ...countsOf(null), succeeded: billedLines, errored },
    ended_at: new Date(at).toISOString(),
    error: { type: 'api_error', code, message },
  }
}

/** Reads a line of the results. Returns null if the line is malformed. */
function readResult(line: string) {
  const { custom_id: customId, result } = objectIn(line) ?? {}
  if (typeof customId !== 'string') return null
  const { type, message } = recordOf(result) ?? {}
  return { customId, answer: type === 'succeeded' ? recordOf(message) : null }
}

/**
 * Renders a line of the results for the caller, with the caller's name for the model. Errors are
 * redacted. Returns null if the line is malformed or does not belong to the batch.
 */
export function renderResult(
  line: string,
  modelOf: (customId: string) => string | null,
  confidential: readonly string[],
): string | null {
  const value = objectIn(line)
  const customId = value?.custom_id
  const result = recordOf(value?.result)
  const model = typeof customId === 'string' ? modelOf(customId) : null
  if (model === null || result === null) return null
  const message = recordOf(result.message)
  if (message !== null) {
    return JSON.stringify({
      custom_id: customId,
      result: { ...result, message: { ...message, model } },
    })
  }
  const error = recordOf(recordOf(result.error)?.error) ?? recordOf(result.error)
  if (error === null) return JSON.stringify({ custom_id: customId, result: { type: result.type } })
  const text = redact(String(error.message ?? ''), confidential)
  const shown = { type: 'error', error: { type: String(error.type ?? 'api_error'), message: text } }
  return JSON.stringify({ custom_id: customId, result: { type: result.type, error: shown } })
}

/** Anthropic's Message Batches. */
export const ANTHROPIC_BATCHES: BatchProtocol = {
  path: BATCHES_PATH,
  headers: VERSION_HEADERS,
  readDescription,
  describeFailure,
  readResult,
  formatOf: () => ANTHROPIC_MESSAGES,
}
