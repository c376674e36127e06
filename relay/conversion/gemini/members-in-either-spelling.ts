import { isObject } from '#relay/canonical/json-values.ts'
import { ConversionError } from '../../canonical/canonical-request.ts'
import { addLoss } from '../collect-losses.ts'
import { optionalBoolean, optionalText, requiredObject } from '../read-json-values-strictly.ts'

/**
 * The members of one object of a request, by their names in camelCase. Gemini accepts each name in
 * camelCase and in snake_case. Null members are omitted, because Gemini treats them as absent.
 */
export type Members = ReadonlyMap<string, unknown>

/** Returns the members of an object. Throws a `ConversionError` for any other value. */
export function membersOf(value: unknown, path: string): Members {
  const members = new Map<string, unknown>()
  for (const [name, member] of Object.entries(requiredObject(value, path))) {
    if (member !== null) members.set(camelCase(name), member)
  }
  return members
}

/** Returns the name in camelCase of a member that is named in either spelling. */
export const camelCase = (name: string): string =>
  name.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

/**
 * Returns the value of a list member, or an empty list if it is absent. Gemini accepts a single
 * object instead of a list.
 */
export function listOrSingle(value: unknown, path: string): readonly unknown[] {
  if (value === undefined) return []
  if (Array.isArray(value)) return value
  if (isObject(value)) return [value]
  throw new ConversionError(path, `${path} must be a list`)
}

/** Returns a text member, or null if it is absent. */
export const textMember = (members: Members, name: string, path: string): string | null =>
  optionalText(members.get(name), `${path}.${name}`)

/** Returns a boolean member, or null if it is absent. */
export const booleanMember = (members: Members, name: string, path: string): boolean | null =>
  optionalBoolean(members.get(name), `${path}.${name}`)

/**
 * Returns a number member, or null if it is absent. Like all of Google's JSON APIs, Gemini also
 * accepts a number in a string.
 */
export function numberMember(members: Members, name: string, path: string): number | null {
  const value = members.get(name)
  if (value === undefined) return null
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof number === 'number' && Number.isFinite(number)) return number
  throw new ConversionError(`${path}.${name}`, `${path}.${name} must be a number`)
}

/** Returns an integer member, or null if it is absent. */
export function integerMember(members: Members, name: string, path: string): number | null {
  const number = numberMember(members, name, path)
  if (number === null || Number.isSafeInteger(number)) return number
  throw new ConversionError(`${path}.${name}`, `${path}.${name} must be an integer`)
}

/** Reports as lost all members that are not in `names`. */
export function reportUnknownMembers(
  members: Members,
  names: ReadonlySet<string>,
  path: string,
  losses: string[],
): void {
  for (const name of members.keys()) {
    if (!names.has(name)) addLoss(losses, path === '' ? name : `${path}.${name}`)
  }
}
