import { type RelayError, relayError } from '../canonical/relay-error.ts'
import { pathAt } from './path-at-json-offset.ts'
import {
  DEPTH_MAX,
  type InvalidJson,
  KEY_BYTES_MAX,
  KEYS_MAX,
  MEMBERS_MAX,
  VALUES_MAX,
} from './scan-request-object.ts'

/**
 * Returns the error for invalid JSON. Its message helps the client's developer to find the fault.
 */
export function jsonError(body: Buffer, json: InvalidJson): RelayError {
  switch (json.error) {
    case 'duplicate':
      return relayError('duplicate_key', { param: json.key.slice(0, 64) })
    case 'ambiguous':
      return ambiguousKey(json.key, json.other)
    case 'not-an-object':
      return relayError('json_not_object')
    case 'not-utf8':
      return relayError('invalid_utf8')
    case 'too-deep':
      return relayError('json_too_deep', { subject: String(DEPTH_MAX) })
    case 'too-long':
      return relayError('json_too_long', { subject: String(VALUES_MAX) })
    case 'too-wide':
      return relayError('json_too_wide', { subject: String(MEMBERS_MAX) })
    case 'too-many-keys':
      return relayError('json_too_wide', { subject: String(KEYS_MAX) })
    case 'key-too-long':
      return relayError('json_name_too_long', { subject: String(KEY_BYTES_MAX) })
    case 'bad-text':
      return relayError('invalid_text', {
        subject: placeOf(body, json.at),
        ...fieldOf(body, json.at),
      })
    case 'malformed':
      if (json.at >= body.length)
        return relayError(isBlank(body) ? 'empty_body' : 'json_incomplete')
      return relayError('invalid_json', { subject: placeOf(body, json.at) })
  }
}

const NAME_LENGTH_SHOWN = 96

/**
 * Returns the error for a member at `path` that repeats the member `other` or may be read as
 * `other`.
 */
export function ambiguousKey(path: string, other: string): RelayError {
  const param = path.slice(0, NAME_LENGTH_SHOWN).toWellFormed()
  if (path === other || path.endsWith(`.${other}`)) return relayError('duplicate_key', { param })
  return relayError('ambiguous_key', {
    param,
    subject: other.slice(0, NAME_LENGTH_SHOWN).toWellFormed(),
  })
}

const LF = 10

/**
 * The maximum offset for which the line and column are computed. Counting the lines of a larger
 * body would block the event loop.
 */
const COUNTED_BYTES_MAX = 1024 * 1024

/**
 * Returns the line and column of the byte at `at`, both counted from 1. If `at` exceeds
 * `COUNTED_BYTES_MAX`, returns the byte offset, counted from 0.
 */
function placeOf(body: Buffer, at: number): string {
  if (at > COUNTED_BYTES_MAX) return `${at} (byte)`
  let line = 1
  let lineStart = 0
  for (let index = 0; index < at; index += 1) {
    if (body[index] !== LF) continue
    line += 1
    lineStart = index + 1
  }
  return `${line}:${body.toString('utf8', lineStart, at).length + 1} (line:column)`
}

/**
 * Returns the path of the field that contains the byte at `at`, as a parameter of the error. The
 * result is empty if `at` exceeds `COUNTED_BYTES_MAX` or no field contains the byte.
 */
function fieldOf(body: Buffer, at: number): { readonly param?: string } {
  const param = at > COUNTED_BYTES_MAX ? null : pathAt(body, at)
  return param === null ? {} : { param }
}

function isBlank(body: Buffer): boolean {
  for (let index = 0; index < body.length; index += 1) {
    if ((body[index] ?? 0) > 32) return false
  }
  return true
}
