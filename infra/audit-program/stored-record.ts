import { createHash } from 'node:crypto'
import { FindingError } from '#domain/audit/finding-texts.ts'
import type { Recorded } from '#domain/shared/event.ts'

/** An event exactly as it is stored. `data` is the stored JSON text. */
export type StoredRecord = {
  readonly position: number
  readonly stream: string
  readonly revision: number
  readonly id: string
  readonly type: string
  readonly v: number
  /** The time of the event in Unix milliseconds. */
  readonly at: number
  readonly actor: string
  readonly cause: string | null
  readonly data: string
}

/** Parses a record into an event. Throws if its data is not a JSON object. */
export function eventOf(record: StoredRecord): Recorded {
  const { at, actor, cause, data: text, ...place } = record
  const data = parsed(text, 'DataNotJson')
  if (typeof data !== 'object' || data === null)
    throw new FindingError({ code: 'DataNotObject', params: {} })
  return { ...place, data, meta: { actor, cause, at } }
}

/**
 * Parses JSON. Throws a `FindingError` for any other text. Unlike the error of `JSON.parse`, this
 * error does not quote the text.
 */
function parsed(text: string, code: 'DataNotJson' | 'LineNotRecord'): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new FindingError({ code, params: {} })
  }
}

/** Parses one line of a segment into a record. Throws if the line is not a record. */
export function recordOf(line: string): StoredRecord {
  const record = parsed(line, 'LineNotRecord') as StoredRecord | null
  const { position, stream, revision, id, type, v, at, actor, cause, data } = record ?? {}
  const areNumbers = [position, revision, v, at].every(Number.isSafeInteger)
  const areTexts = [stream, id, type, actor, data].every((text) => typeof text === 'string')
  const isCause = cause === null || typeof cause === 'string'
  if (record !== null && areNumbers && areTexts && isCause) return record
  throw new FindingError({ code: 'LineNotRecord', params: {} })
}

export const lineOf = (record: StoredRecord): string => `${JSON.stringify(record)}\n`

const ENCODING_VERSION = 1
const LEAF = 0
const NULL_LENGTH = 0xff_ff_ff_ff

/**
 * Returns the leaf hash of a record in the transparency log: SHA-256 of a zero byte and the encoded
 * record (RFC 6962, section 2.1).
 */
export const leafHash = (record: StoredRecord): Buffer =>
  createHash('sha256').update(leafInput(record)).digest()

/**
 * Returns the encoded record: a version byte, and then each field as its length in 4 bytes
 * (big-endian) and its UTF-8 text. A cause of null has the length 0xFFFFFFFF.
 */
export const encodedRecord = (record: StoredRecord): Buffer => leafInput(record).subarray(1)

function leafInput(record: StoredRecord): Buffer {
  const { position, stream, revision, id, type, v, at, actor, cause, data } = record
  const before = [`${position}`, stream, `${revision}`, id, type, `${v}`, `${at}`, actor]
  const fields: readonly (string | null)[] = [...before, cause, data]
  let size = 2
  for (const field of fields) size += 4 + (field === null ? 0 : Buffer.byteLength(field))
  const bytes = Buffer.allocUnsafe(size)
  let offset = bytes.writeUInt8(ENCODING_VERSION, bytes.writeUInt8(LEAF, 0))
  for (const field of fields) {
    const length = field === null ? 0 : bytes.write(field, offset + 4)
    bytes.writeUInt32BE(field === null ? NULL_LENGTH : length, offset)
    offset += 4 + length
  }
  return bytes
}
