import type { KnownNames } from '#domain/shared/folded-name.ts'
import { type RelayError, relayError } from '../canonical/relay-error.ts'
import { ambiguousKey, jsonError } from '../dialects/json-error.ts'
import { type Member, scanObject } from '../dialects/json-scan.ts'
import { isPicture, PICTURE_LENGTH_MAX, textsIn } from './picture-check.ts'

/** A prompt is no book. */
export const TEXT_LENGTH_MAX = 16_384

const NAME_LENGTH_MAX = 1_024

/** Refused inside of a reader: becomes the caller's answer. */
export class Refused extends Error {
  readonly error: RelayError
  constructor(error: RelayError) {
    super(error.code)
    this.error = error
  }
}

export const refuseParam = (param: string, isMissing = false): never => {
  throw new Refused(relayError(isMissing ? 'missing_parameter' : 'invalid_parameter', { param }))
}

const refuseLength = (param: string, lengthMax: number): never => {
  throw new Refused(relayError('string_above_max_length', { param, subject: String(lengthMax) }))
}

/**
 * A task's request as its caller sent it. Pictures in it are looked at in their bytes alone, since
 * building them would hold the loop. Readers throw `Refused` at what can't be.
 */
export class TaskBody {
  readonly bytes: Buffer
  private readonly members: readonly Member[]

  /**
   * `known`: the names that its readers ask for or replace. Throws `Refused` where the bytes are no
   * JSON object, or a member can be taken for another one.
   */
  constructor(bytes: Buffer, known: KnownNames) {
    const members = scanObject(bytes, known)
    if (!('length' in members)) throw new Refused(jsonError(bytes, members))
    this.bytes = bytes
    this.members = members
  }

  has(key: string): boolean {
    const member = this.find(key)
    return member !== undefined && member.kind !== 'null'
  }

  /** null where it is left out, or empty. */
  text(key: string, lengthMax = NAME_LENGTH_MAX): string | null {
    const member = this.find(key)
    if (member === undefined || member.kind === 'null') return null
    if (member.kind !== 'string') return refuseParam(key)
    // A character takes six bytes at most, as an escape.
    if (this.sizeOf(member) > lengthMax * 6 + 2) return refuseLength(key, lengthMax)
    const text = this.valueOf(member) as string
    if (text.length > lengthMax) return refuseLength(key, lengthMax)
    return text.trim() === '' ? null : text
  }

  needText(key: string, lengthMax = NAME_LENGTH_MAX): string {
    return this.text(key, lengthMax) ?? refuseParam(key, !this.has(key))
  }

  /** null where it is left out. */
  integer(key: string, least: number, most: number): number | null {
    const member = this.find(key)
    if (member === undefined || member.kind === 'null') return null
    const value = member.kind === 'number' ? Number(this.valueOf(member)) : Number.NaN
    return Number.isInteger(value) && value >= least && value <= most ? value : refuseParam(key)
  }

  needPicture(key: string): void {
    const member = this.find(key)
    if (member === undefined || member.kind === 'null') return refuseParam(key, true)
    if (member.kind !== 'string') return refuseParam(key)
    this.checkPicture(key, this.bytes.subarray(member.valueStart, member.valueEnd))
  }

  /** Each is told by its place, as `base64Array[1]`. */
  needPictures(key: string, least: number, most: number): void {
    const member = this.find(key)
    if (member === undefined || member.kind === 'null') return refuseParam(key, true)
    if (member.kind !== 'array' || member.length < least || member.length > most) {
      return refuseParam(key)
    }
    let place = 0
    for (const json of textsIn(this.bytes.subarray(member.valueStart, member.valueEnd))) {
      if (json === null) return refuseParam(`${key}[${place}]`)
      this.checkPicture(`${key}[${place}]`, json)
      place += 1
    }
  }

  /** Texts of a short list; null where it is left out. */
  texts(key: string, most: number): readonly string[] | null {
    const member = this.find(key)
    if (member === undefined || member.kind === 'null') return null
    const isFit = member.kind === 'array' && member.length <= most
    if (!isFit || this.sizeOf(member) > most * (NAME_LENGTH_MAX + 3)) return refuseParam(key)
    const values = this.valueOf(member) as readonly unknown[]
    const isText = (value: unknown): value is string => typeof value === 'string'
    return values.every(isText) ? values : refuseParam(key)
  }

  /** A small object with these names, or others, in it; null where it is left out. */
  object(key: string, known: KnownNames): Readonly<Record<string, unknown>> | null {
    const member = this.find(key)
    if (member === undefined || member.kind === 'null') return null
    const isFit = member.kind === 'object' && this.sizeOf(member) <= TEXT_LENGTH_MAX
    if (!isFit) return refuseParam(key)
    const inner = scanObject(this.bytes.subarray(member.valueStart, member.valueEnd), known)
    if ('fault' in inner && inner.fault === 'ambiguous') {
      throw new Refused(ambiguousKey(`${key}.${inner.key}`, inner.other))
    }
    return this.valueOf(member) as Record<string, unknown>
  }

  /** Those of the names that it has, and that are not allowed. */
  restricted(names: readonly string[], allowed: ReadonlySet<string>): readonly string[] {
    return names.filter((name) => !allowed.has(name) && this.find(name) !== undefined)
  }

  /** The same object with other members in place of some; undefined: without it. */
  with(changes: ReadonlyMap<string, unknown>): Buffer {
    const parts: Buffer[] = []
    const put = (key: string, value: Buffer): void => {
      const before = parts.length === 0 ? '{' : ','
      parts.push(Buffer.from(`${before}${JSON.stringify(key)}:`), value)
    }
    for (const member of this.members) {
      if (changes.has(member.key) || member.key === '__proto__') continue
      put(member.key, this.bytes.subarray(member.valueStart, member.valueEnd))
    }
    for (const [key, value] of changes) {
      if (value !== undefined) put(key, Buffer.from(JSON.stringify(value)))
    }
    return Buffer.concat([...parts, Buffer.from(parts.length === 0 ? '{}' : '}')])
  }

  private checkPicture(param: string, json: Buffer): void {
    if (json.length - 2 > PICTURE_LENGTH_MAX) refuseLength(param, PICTURE_LENGTH_MAX)
    if (!isPicture(json)) refuseParam(param)
  }

  private find(key: string): Member | undefined {
    return this.members.find((member) => member.key === key)
  }

  private sizeOf({ valueStart, valueEnd }: Member): number {
    return valueEnd - valueStart
  }

  private valueOf({ valueStart, valueEnd }: Member): unknown {
    return JSON.parse(this.bytes.toString('utf8', valueStart, valueEnd))
  }
}

/** Changes that leave the members out. */
export const without = (names: readonly string[]): (readonly [string, undefined])[] =>
  names.map((name) => [name, undefined])

/** What came from outside: anything may be missing, or of another kind. */
export type Loose = Readonly<Record<string, unknown>>

/** As for callers. Whatever is read or written again further down would cost the stack. */
const DEPTH_MAX = 64
const QUOTE = 34
const BACKSLASH = 92
/** With this bit set, square brackets are curly ones. */
const SAME = 32
const OPEN = 123
const CLOSE = 125

export const objectOf = (value: unknown): Loose =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Loose) : {}

export function parsedObject(bytes: Buffer): Loose | null {
  const value = parsedJson(bytes)
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Loose)
    : null
}

/** undefined where it is no JSON, or nested too deep. */
export function parsedJson(bytes: Buffer): unknown {
  if (!isShallow(bytes)) return undefined
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}

/** Bytes are enough: in UTF-8 none of a longer character looks like one of these. */
function isShallow(bytes: Buffer): boolean {
  let depth = 0
  let isInText = false
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number
    if (isInText) {
      if (byte === BACKSLASH) at += 1
      else if (byte === QUOTE) isInText = false
    } else if (byte === QUOTE) isInText = true
    else if ((byte | SAME) === OPEN) depth += 1
    else if ((byte | SAME) === CLOSE) depth -= 1
    if (depth > DEPTH_MAX) return false
  }
  return true
}

export const listOf = (value: unknown): readonly Loose[] =>
  Array.isArray(value) ? value.map(objectOf) : []

/** Numbers too, as some providers give ids; without what no ledger may hold; null: empty. */
export function textOf(value: unknown, lengthMax: number): string | null {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string') return null
  const clean = text.replaceAll('\0', '').toWellFormed().slice(0, lengthMax).toWellFormed()
  return clean === '' ? null : clean
}

export function webAddress(value: unknown): string | null {
  const text = textOf(value, 4_096)
  if (text === null || !URL.canParse(text)) return null
  return /^https?:$/.test(new URL(text).protocol) ? text : null
}
