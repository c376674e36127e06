import { isObject, type JsonObject } from '#relay/canonical/json-values.ts'
import { ConversionError, InexpressibleMemberError } from '../../canonical/canonical-request.ts'
import { membersOf } from './members-in-either-spelling.ts'

const DEPTH_MAX = 64
/**
 * The members of a schema whose numbers may be sent as strings. They are 64-bit integers, and
 * Google's JSON writes such integers as strings.
 */
const COUNTS = new Set([
  ...['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'],
])

/**
 * Converts a schema in Gemini's dialect to a JSON schema. Members that the dialect does not define
 * stay unchanged, because many callers send a JSON schema here.
 */
export function readGeminiSchema(value: unknown, path: string, depth = 0): JsonObject {
  if (depth > DEPTH_MAX) throw new InexpressibleMemberError(path, `${path} is nested too deeply`)
  const members = new Map(membersOf(value, path))
  const schema: [string, unknown][] = []
  for (const [name, member] of members) {
    const written = readMember(name, member, { path: `${path}.${name}`, depth, members })
    if (written !== undefined) schema.push([name, written])
  }
  return withNull(Object.fromEntries(schema), members.get('nullable') === true)
}

type MemberPlace = {
  readonly path: string
  readonly depth: number
  readonly members: ReadonlyMap<string, unknown>
}

function readMember(name: string, value: unknown, { path, depth, members }: MemberPlace): unknown {
  switch (name) {
    case 'type':
      return readType(value)
    case 'nullable':
      return undefined
    case 'propertyOrdering':
      return undefined
    case 'format':
      return value === 'enum' ? undefined : value
    case 'example':
      return undefined
    case 'items':
      return isObject(value) ? readGeminiSchema(value, path, depth + 1) : value
    case 'anyOf':
      return Array.isArray(value)
        ? value.map((each, index) => readGeminiSchema(each, `${path}[${index}]`, depth + 1))
        : value
    case 'properties':
      return readProperties(value, members.get('propertyOrdering'), path, depth)
    default:
      return COUNTS.has(name) && typeof value === 'string' ? Number(value) : value
  }
}

function readType(value: unknown): unknown {
  if (value === 'TYPE_UNSPECIFIED') return undefined
  if (Array.isArray(value)) return value.map(readType)
  return typeof value === 'string' ? value.toLowerCase() : value
}

/**
 * Reads the properties in the order of `propertyOrdering`. Properties that are not listed come
 * last.
 */
function readProperties(
  value: unknown,
  ordering: unknown,
  path: string,
  depth: number,
): JsonObject {
  if (!isObject(value)) throw new ConversionError(path, `${path} must be an object`)
  const positions = new Map(
    Array.isArray(ordering) ? ordering.map((name, index) => [name, index]) : [],
  )
  const positionOf = (name: string): number => positions.get(name) ?? positions.size
  const sorted = Object.entries(value).toSorted(([a], [b]) => positionOf(a) - positionOf(b))
  return Object.fromEntries(
    sorted.map(([name, schema]) => [name, readGeminiSchema(schema, `${path}.${name}`, depth + 1)]),
  )
}

function withNull(schema: JsonObject, isNullable: boolean): JsonObject {
  if (!isNullable) return schema
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: [...schema.anyOf, { type: 'null' }] }
  if (typeof schema.type !== 'string') return schema
  const values = Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {}
  return { ...schema, type: [schema.type, 'null'], ...values }
}
