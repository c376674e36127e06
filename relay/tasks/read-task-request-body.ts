import { foldedName, type NamesByFoldedName } from '#domain/shared/fold-json-member-names.ts'
import {
  notOneOf,
  type RelayError,
  type RelayErrorCode,
  relayError,
} from '../canonical/relay-error.ts'
import { ambiguousKey, jsonError } from '../dialects/invalid-json-error.ts'
import { type Member, scanObject } from '../dialects/scan-request-object.ts'
import {
  isPictureInJson,
  PICTURE_LENGTH_MAX,
  stringsInJsonList,
} from './recognize-pictures-in-request-json.ts'

export const TEXT_LENGTH_MAX = 16_384

const NAME_LENGTH_MAX = 1_024

/** An example of a list of texts for errors. */
const TEXTS = ['["…"]']

/**
 * Thrown by the functions that read task requests if a request is invalid. The caller receives
 * `error`.
 */
export class TaskRequestError extends Error {
  readonly error: RelayError
  constructor(error: RelayError) {
    super(error.code)
    this.error = error
  }
}

export const rejectParam = (param: string, isMissing = false): never => {
  throw new TaskRequestError(
    relayError(isMissing ? 'missing_parameter' : 'invalid_parameter', { param }),
  )
}

export function refuse(code: RelayErrorCode, param: string, subject?: string | number): never {
  throw new TaskRequestError(
    relayError(code, subject === undefined ? { param } : { param, subject: `${subject}` }),
  )
}

const rejectLength = (param: string, lengthMax: number): never =>
  refuse('string_above_max_length', param, lengthMax)

/** Throws the error for a member whose value is none of `values`, whatever the provider offers. */
export function notPossible(param: string, values: readonly string[]): never {
  throw new TaskRequestError(notOneOf(param, values))
}

/** Examples of pictures for errors. */
export const PICTURES = ['https://…', 'data:image/png;base64,…']

/**
 * The body of a task request. Its methods read single members and throw `TaskRequestError` if a
 * member is invalid. Pictures are checked as bytes, because building long strings would block the
 * event loop.
 */
export class TaskBody {
  readonly bytes: Buffer
  private readonly members: readonly Member[]

  /**
   * `names` lists the member names that the gateway reads or replaces. Throws `TaskRequestError` if
   * the bytes are not a JSON object, or if the name of a member is another spelling of one of these
   * names.
   */
  constructor(bytes: Buffer, names: NamesByFoldedName) {
    const members = scanObject(bytes, names)
    if (!('length' in members)) throw new TaskRequestError(jsonError(bytes, members))
    this.bytes = bytes
    this.members = members
  }

  has(key: string): boolean {
    const member = this.find(key)
    return member !== undefined && member.kind !== 'null'
  }

  /** Returns a text member, or null if the member is missing, null or blank. */
  text(key: string, lengthMax = NAME_LENGTH_MAX): string | null {
    const member = this.find(key)
    if (member === undefined || member.kind === 'null') return null
    if (member.kind !== 'string') return refuse('text_empty', key)
    // An escaped character takes up to six bytes, and the two quotes take one byte each.
    if (this.sizeOf(member) > lengthMax * 6 + 2) return rejectLength(key, lengthMax)
    const text = this.valueOf(member) as string
    if (text.length > lengthMax) return rejectLength(key, lengthMax)
    return text.trim() === '' ? null : text
  }

  requireText(key: string, lengthMax = NAME_LENGTH_MAX): string {
    return (
      this.text(key, lengthMax) ??
      (this.has(key) ? refuse('text_empty', key) : rejectParam(key, true))
    )
  }

  integer(key: string, least: number, most: number): number | null {
    const member = this.find(key)
    if (member === undefined || member.kind === 'null') return null
    const value = member.kind === 'number' ? Number(this.valueOf(member)) : Number.NaN
    return Number.isInteger(value) && value >= least && value <= most
      ? value
      : refuse('integer_out_of_range', key, `${least}–${most}`)
  }

  requirePicture(key: string): void {
    const member = this.find(key)
    if (member === undefined || member.kind === 'null') return rejectParam(key, true)
    if (member.kind !== 'string') return notPossible(key, PICTURES)
    this.checkPicture(key, this.bytes.subarray(member.valueStart, member.valueEnd))
  }

  /**
   * Checks that a member is a list of `least` to `most` pictures. The error names the invalid
   * element, such as `base64Array[1]`.
   */
  requirePictures(key: string, least: number, most: number): void {
    const member = this.find(key)
    if (member === undefined || member.kind === 'null') return rejectParam(key, true)
    if (member.kind !== 'array' || member.length < least) {
      return notPossible(key, [`[${Array(least).fill('"data:image/png;base64,…"').join(', ')}]`])
    }
    if (member.length > most) return refuse('list_too_long', key, most)
    let index = 0
    for (const json of stringsInJsonList(this.bytes.subarray(member.valueStart, member.valueEnd))) {
      if (json === null) return notPossible(`${key}[${index}]`, PICTURES)
      this.checkPicture(`${key}[${index}]`, json)
      index += 1
    }
  }

  texts(key: string, most: number): readonly string[] | null {
    const member = this.find(key)
    if (member === undefined || member.kind === 'null') return null
    if (member.kind !== 'array') return notPossible(key, TEXTS)
    if (member.length > most) return refuse('list_too_long', key, most)
    if (this.sizeOf(member) > most * (NAME_LENGTH_MAX + 3)) return rejectParam(key)
    const values = this.valueOf(member) as readonly unknown[]
    const isText = (value: unknown): value is string => typeof value === 'string'
    return values.every(isText) ? values : notPossible(key, TEXTS)
  }

  /**
   * Returns an object member, or null if the member is missing or null. Throws if a name in the
   * object is another spelling of a name in `names`.
   */
  object(key: string, names: NamesByFoldedName): Readonly<Record<string, unknown>> | null {
    const member = this.find(key)
    if (member === undefined || member.kind === 'null') return null
    const isFit = member.kind === 'object' && this.sizeOf(member) <= TEXT_LENGTH_MAX
    if (!isFit) return rejectParam(key)
    const inner = scanObject(this.bytes.subarray(member.valueStart, member.valueEnd), names)
    if ('error' in inner && inner.error === 'ambiguous') {
      throw new TaskRequestError(ambiguousKey(`${key}.${inner.key}`, inner.other))
    }
    return this.valueOf(member) as Record<string, unknown>
  }

  /**
   * Returns the names of the body's members that are in `names`, the restricted names, but not in
   * `allowed`. A member with another spelling of a restricted name, such as `modelName` for
   * `model_name`, is always returned.
   */
  restricted(names: readonly string[], allowed: ReadonlySet<string>): readonly string[] {
    const spelled = new Set(names.map((name) => withoutSeparators(foldedName(name))))
    return this.members
      .filter(({ key, folded }) => spelled.has(withoutSeparators(folded)) && !allowed.has(key))
      .map(({ key }) => key)
  }

  /** Returns the changes for `with` that remove the members in `CALLBACK_MEMBERS`. */
  withoutCallbacks(): (readonly [string, undefined])[] {
    return without(this.restricted(CALLBACK_MEMBERS, NOTHING_ALLOWED))
  }

  /**
   * Returns the body as JSON with the changes applied. A change maps a member name to its new
   * value. The value undefined removes the member.
   */
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
    if (json.length - 2 > PICTURE_LENGTH_MAX) rejectLength(param, PICTURE_LENGTH_MAX)
    if (!isPictureInJson(json)) notPossible(param, PICTURES)
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

const withoutSeparators = (name: string): string => name.replace(/[_-]/g, '')

/**
 * The members in which a caller names a URL for callbacks. These members are never sent, because
 * providers must send their reports only to this site.
 */
const CALLBACK_MEMBERS = ['notifyHook', 'notifyUrl', 'callbackUrl', 'callback', 'webhook']

const NOTHING_ALLOWED: ReadonlySet<string> = new Set()

/** Returns the changes for `TaskBody.with` that remove the given members. */
export const without = (names: readonly string[]): (readonly [string, undefined])[] =>
  names.map((name) => [name, undefined])
