import {
  invalidParameter,
  isRelayError,
  missingParameter,
  notOneOf,
  type RelayError,
  relayError,
} from '#relay/canonical/relay-error.ts'
import type { Ambiguity } from './check-nested-json-members.ts'
import { ambiguousKey, jsonError } from './invalid-json-error.ts'
import type { JsonKind } from './scan-json-tokens.ts'
import type { InvalidJson, Member } from './scan-request-object.ts'

const MODEL_LENGTH_MAX = 256
/**
 * A member name that can change an object's prototype when a member with this name is copied. No
 * API has a parameter with this name.
 */
export const RESERVED = '__proto__'

/** Reports whether a scan has found the members of a valid JSON object, and not an error. */
export const isMembers = (outcome: readonly Member[] | InvalidJson): outcome is readonly Member[] =>
  Array.isArray(outcome)

/**
 * Returns the outline (a short form) of a request. Throws if `outline` is an error. This would be a
 * bug, because the gateway itself wrote the outline.
 */
export function validOutline<Outline extends object>(outline: Outline | RelayError): Outline {
  if (isRelayError(outline)) throw new Error(`the outline of a request is invalid: ${outline.code}`)
  return outline
}

/** The members of a request's body, and the model that the body names. */
type RequestMembers = {
  readonly members: readonly Member[]
  readonly model: string
  readonly find: (key: string) => Member | undefined
}

const NOTHING_REFUSED: ReadonlySet<string> = new Set()

/**
 * Returns the members and the model of a body that was scanned. Returns an error if the body is not
 * valid JSON or names no valid model, if a member is called `__proto__` (`RESERVED`), or if a
 * member is in `refused`. `refused` contains folded names.
 */
export function membersAndModel(
  body: Buffer,
  scanned: readonly Member[] | InvalidJson,
  refused = NOTHING_REFUSED,
): RequestMembers | RelayError {
  if (!isMembers(scanned)) return jsonError(body, scanned)
  const find = (key: string) => scanned.find((member) => member.key === key)
  if (find(RESERVED) !== undefined) return invalidParameter(RESERVED)
  const unsupported = scanned.find(({ folded }) => refused.has(folded))
  if (unsupported !== undefined) {
    return relayError('parameter_not_supported', { param: unsupported.key })
  }
  const model = modelOf(body, find('model'))
  return typeof model === 'string' ? { members: scanned, model, find } : model
}

/** The rules of a format for members whose values only the provider uses. */
export type MemberRules = {
  /** The JSON kinds that each member may have. A null counts as an absent member. */
  readonly kinds: ReadonlyMap<string, readonly JsonKind[]>
  /** The members that must be numbers or null. */
  readonly numbers: readonly string[]
  /**
   * The members whose lists must contain only objects, each with the maximum number of elements.
   */
  readonly lists: ReadonlyMap<string, number>
}

/**
 * Returns the error for the first member that breaks the rules, or null if none does. The provider
 * checks the values themselves.
 */
export function errorInKinds(
  body: Buffer,
  members: readonly Member[],
  { kinds, numbers, lists }: MemberRules,
): RelayError | null {
  for (const member of members) {
    const { key, kind, length, isAllObjects } = member
    if (numbers.includes(key)) {
      if (isNumberOrNull(body, member)) continue
      return notOfKinds(key, ['number'])
    }
    const allowed = kinds.get(key)
    if (allowed === undefined || kind === 'null') continue
    const elementsMax = lists.get(key)
    if (elementsMax === undefined || kind !== 'array') {
      if (!allowed.includes(kind)) return notOfKinds(key, allowed)
    } else if (!isAllObjects) return notOneOf(key, [OBJECTS])
    else if (length > elementsMax) return listTooLong(key, elementsMax)
  }
  return null
}

/** Returns the model that a request names. Returns an error if the name is missing or invalid. */
export function modelOf(body: Buffer, member: Member | undefined): string | RelayError {
  if (member === undefined) return missingParameter('model')
  const model = member.kind === 'string' ? (textOf(body, member) as string) : ''
  return isModelName(model) ? model : invalidParameter('model')
}

/**
 * Reports whether a text can be the name of a model: it is not too long and has no control
 * characters.
 */
export const isModelName = (text: string): boolean =>
  text !== '' && text.length <= MODEL_LENGTH_MAX && !hasControls(text)

function hasControls(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code < 32 || code === 127) return true
  }
  return false
}

/**
 * Returns the error in the list of messages, or null if there is none. The list is the member
 * `name` of the request. `inParts` is the first member with an ambiguous name in a message part, or
 * null.
 */
export function errorInMessages(
  messages: Member | undefined,
  inParts: Ambiguity | null = null,
  name = 'messages',
): RelayError | null {
  if (messages === undefined) return missingParameter(name)
  if (messages.kind !== 'array' || messages.length === 0 || !messages.isAllObjects) {
    return notOneOf(name, [OBJECTS])
  }
  const ambiguity = messages.ambiguity ?? inParts
  if (ambiguity !== null) {
    const { path, other } = ambiguity
    return ambiguousKey(`${name}${path}`, other)
  }
  return errorOfMisfit(messages, name)
}

/**
 * Returns the value of an integer member. Returns null if the member is absent or null, and
 * undefined if its value is not an integer from `least` to `most`.
 */
export function integerOf(
  body: Buffer,
  member: Member | undefined,
  least: number,
  most: number,
): number | null | undefined {
  if (member === undefined || member.kind === 'null') return null
  if (member.kind !== 'number') return undefined
  const value = Number(body.toString('latin1', member.valueStart, member.valueEnd))
  return Number.isInteger(value) && value >= least && value <= most ? value : undefined
}

/** Returns the error for a member that `integerOf` rejects with the same bounds. */
export const outOfRange = (param: string, least: number, most: number): RelayError =>
  relayError('integer_out_of_range', { param, subject: `${least}–${most}` })

/** Returns the error for a nested member with a wrong JSON kind in an array, or null. */
export const errorOfMisfit = ({ misfit }: Member, name: string): RelayError | null =>
  misfit === null ? null : notOfKinds(`${name}${misfit.path}`, misfit.kinds)

/** The form in which errors show a list of objects. */
export const OBJECTS = '[{…}]'

/** Creates the error for a list with more than `most` elements. */
export const listTooLong = (param: string, most: number): RelayError =>
  relayError('list_too_long', { param, subject: String(most) })

/**
 * Returns the error for a required text that is missing or empty, or is not a string. Returns null
 * if there is a text.
 */
export function errorInText(
  body: Buffer,
  member: Member | undefined,
  param: string,
): RelayError | null {
  if (member === undefined || member.kind === 'null') return relayError('text_missing', { param })
  if (member.kind !== 'string') return notOfKinds(param, ['string'])
  return shortTextOf(body, member) === '' ? relayError('text_empty', { param }) : null
}

/** The forms in which errors show the values of a JSON kind. */
const FORMS: Record<JsonKind, string> = {
  ...{ string: '"…"', array: '[…]', object: '{…}', number: '0, 1.5, …' },
  ...{ true: 'true', false: 'false', null: 'null' },
}

/** Creates the error for a member whose value has none of the JSON kinds. */
export const notOfKinds = (param: string, kinds: readonly JsonKind[]): RelayError =>
  notOneOf(
    param,
    kinds.map((kind) => FORMS[kind]),
  )

/**
 * Returns the value of a boolean member. Returns false if the member is absent or null, and null if
 * its value is not a boolean.
 */
export function flagOf(member: Member | undefined): boolean | null {
  if (member === undefined || member.kind === 'null' || member.kind === 'false') return false
  return member.kind === 'true' ? true : null
}

/** Returns the error for a member that `flagOf` rejects. */
export const notFlag = (param: string): RelayError => notOfKinds(param, ['true', 'false'])

/**
 * The efforts that providers document. Any other text is sent to the provider but not stored, so
 * that events contain no free text of a caller.
 */
const EFFORTS: ReadonlySet<string> = new Set([
  ...['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'auto', 'default'],
])
/** The effort that is stored for a text that is not in `EFFORTS`. */
const OTHER_EFFORT = 'other'
const EFFORT_LENGTH_MAX = 9

/**
 * Returns the reasoning effort in a member, or `other` for a text that is not a known effort.
 * Returns null if the member is absent, empty or not a text.
 */
export function effortOf(body: Buffer, member: Member | undefined): string | null {
  if (member?.kind !== 'string') return null
  const length = member.valueEnd - member.valueStart - 2
  if (length === 0) return null
  if (length > EFFORT_LENGTH_MAX) return OTHER_EFFORT
  const text = body.toString('latin1', member.valueStart + 1, member.valueEnd - 1)
  return EFFORTS.has(text) ? text : OTHER_EFFORT
}

const SHORT_TEXT_MAX = 32

/**
 * Returns the value of a string member with its escapes resolved, as a provider reads it. Returns
 * null if the member is absent or not a string, and `?` if the value is too long to be a known
 * value.
 */
export function shortTextOf(body: Buffer, member: Member | undefined): string | null {
  if (member?.kind !== 'string') return null
  // An escaped character takes six bytes.
  const isShort = member.valueEnd - member.valueStart <= SHORT_TEXT_MAX * 6
  return isShort ? (textOf(body, member) as string) : '?'
}

export const isNumberOrNull = (body: Buffer, { kind, valueStart, valueEnd }: Member): boolean =>
  kind === 'null' ||
  (kind === 'number' && Number.isFinite(Number(body.toString('latin1', valueStart, valueEnd))))

const textOf = (body: Buffer, { valueStart, valueEnd }: Member): unknown =>
  JSON.parse(body.toString('utf8', valueStart, valueEnd))
