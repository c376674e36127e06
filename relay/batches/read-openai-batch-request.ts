import { objectOf, parsedObject } from '#relay/canonical/json-values.ts'
import { notOneOf, type RelayError, relayError } from '../canonical/relay-error.ts'
import { jsonError } from '../dialects/invalid-json-error.ts'
import { isMembers } from '../dialects/read-common-request-members.ts'
import { scanObject } from '../dialects/scan-request-object.ts'
import { BATCH_ENDPOINTS, type OpenAiBatchRequest } from './openai-batches.ts'
import { readFileLifetime } from './read-file-lifetime.ts'

const BODY_BYTES_MAX = 1024 * 1024
const METADATA_MAX = 16
const METADATA_KEY_MAX = 64
const METADATA_VALUE_MAX = 512
const EXPIRY = 'output_expires_after'

const invalid = (param: string): RelayError => relayError('invalid_parameter', { param })

/** Parses a request for a batch of an uploaded file, in OpenAI's format. */
export function readOpenAiBatchRequest(body: Buffer): OpenAiBatchRequest | RelayError {
  if (body.length > BODY_BYTES_MAX) return relayError('request_too_large', { subject: '1' })
  const members = scanObject(body)
  if (!isMembers(members)) return jsonError(body, members)
  const value = parsedObject(body) ?? {}
  const { input_file_id, endpoint, completion_window, metadata = null, ...more } = value
  const { [EXPIRY]: expiry = null, ...others } = more
  const [other] = Object.keys(others)
  if (other !== undefined) return relayError('parameter_not_supported', { param: other })
  for (const param of ['input_file_id', 'endpoint', 'completion_window']) {
    if (value[param] === undefined) return relayError('missing_parameter', { param })
  }
  if (typeof input_file_id !== 'string') return invalid('input_file_id')
  if (typeof endpoint !== 'string' || !BATCH_ENDPOINTS.has(endpoint)) {
    return notOneOf('endpoint', BATCH_ENDPOINTS.keys())
  }
  if (completion_window !== '24h') return notOneOf('completion_window', ['24h'])
  const pairs = metadata === null ? null : objectOf(metadata)
  const metadataError = metadata === null ? null : errorInMetadata(pairs)
  if (metadataError !== null) return metadataError
  const request = { input_file_id, endpoint, metadata: pairs as OpenAiBatchRequest['metadata'] }
  if (expiry === null) return request
  const outputLifetimeMs = readExpiry(expiry)
  if (typeof outputLifetimeMs !== 'number') return outputLifetimeMs
  return { ...request, outputLifetimeMs }
}

/**
 * Returns the requested lifetime of the files with results in milliseconds, or an error if it is
 * invalid.
 */
function readExpiry(expiry: unknown): number | RelayError {
  const members = objectOf(expiry)
  if (members === null) return invalid(EXPIRY)
  const { anchor, seconds, ...others } = members
  const [other] = Object.keys(others)
  if (other !== undefined) {
    return relayError('parameter_not_supported', { param: `${EXPIRY}.${other}` })
  }
  const names = { anchor: `${EXPIRY}.anchor`, seconds: `${EXPIRY}.seconds` }
  return readFileLifetime({ anchor, seconds }, names)
}

function errorInMetadata(pairs: Readonly<Record<string, unknown>> | null): RelayError | null {
  const entries = Object.entries(pairs ?? {})
  if (pairs === null || entries.some(([, value]) => typeof value !== 'string')) {
    return notOneOf('metadata', ['{"…": "…"}'])
  }
  if (entries.length > METADATA_MAX) return invalid('metadata')
  for (const [key, value] of entries) {
    const param = `metadata.${key.slice(0, METADATA_KEY_MAX)}`
    if (key.length > METADATA_KEY_MAX) return tooLong(param, METADATA_KEY_MAX)
    if (String(value).length > METADATA_VALUE_MAX) return tooLong(param, METADATA_VALUE_MAX)
  }
  return null
}

const tooLong = (param: string, most: number): RelayError =>
  relayError('string_above_max_length', { param, subject: `${most}` })
