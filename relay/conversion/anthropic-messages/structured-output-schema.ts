import { isObject, type JsonObject } from '#relay/canonical/json-values.ts'

/** The depth up to which schemas are adapted. No provider accepts deeper schemas. */
const DEPTH_MAX = 64

const KEPT = new Set(['$ref', 'type', 'enum', 'const', 'title', 'description', 'default'])
const SCHEMA_LISTS = new Set(['anyOf', 'oneOf', 'allOf'])
const SCHEMA_MAPS = new Set(['properties', '$defs', 'definitions'])
const WITHOUT_EFFECT = new Set(['$schema', '$id', '$comment'])
const FORMATS = new Set([
  ...['date-time', 'time', 'date', 'duration', 'email'],
  ...['hostname', 'uri', 'ipv4', 'ipv6', 'uuid'],
])

/**
 * Adapts a JSON schema to Anthropic's structured outputs. Objects no longer allow undeclared
 * members. Constraints that structured outputs do not support, such as `minLength`, are moved to
 * the description, where the model reads them. `isWeaker` is true if a constraint was moved, or if
 * the original schema explicitly allowed undeclared members. Source: `transformJSONSchema` in
 * Anthropic's SDK, and the page "Structured outputs".
 */
export function toStructuredOutputSchema(schema: JsonObject): {
  readonly schema: JsonObject
  readonly isWeaker: boolean
} {
  const adapter = new Adapter()
  return { schema: adapter.adapt(schema, 0), isWeaker: adapter.isWeaker }
}

class Adapter {
  isWeaker = false

  adapt(schema: JsonObject, depth: number): JsonObject {
    if (depth > DEPTH_MAX) return schema
    const members: [string, unknown][] = []
    const constraints: [string, unknown][] = []
    for (const [name, value] of Object.entries(schema)) {
      if (name === 'additionalProperties' || WITHOUT_EFFECT.has(name)) continue
      const member = this.member(name, value, depth + 1)
      if (member === null) constraints.push([name, value])
      else members.push(member)
    }
    if (describesObject(schema)) members.push(['additionalProperties', false])
    const isOpen = schema.additionalProperties === true || isObject(schema.additionalProperties)
    if (isOpen || constraints.length > 0) this.isWeaker = true
    const adapted = Object.fromEntries(members)
    if (constraints.length === 0) return adapted
    const text = `Constraints: ${JSON.stringify(Object.fromEntries(constraints))}`
    const { description } = schema
    const before = typeof description === 'string' ? `${description}\n\n` : ''
    return { ...adapted, description: before + text }
  }

  /**
   * Returns a member of the adapted schema. `oneOf` becomes `anyOf`. Returns null for a constraint
   * that structured outputs do not support.
   */
  private member(name: string, value: unknown, depth: number): [string, unknown] | null {
    if (KEPT.has(name)) return [name, value]
    if (name === 'required') return [name, value]
    if (name === 'items' && isObject(value)) return [name, this.adapt(value, depth)]
    if (name === 'minItems' && (value === 0 || value === 1)) return [name, value]
    if (name === 'format' && typeof value === 'string' && FORMATS.has(value)) return [name, value]
    if (SCHEMA_LISTS.has(name) && Array.isArray(value)) {
      const variants = value.map((variant: unknown) => this.adaptAny(variant, depth))
      return [name === 'oneOf' ? 'anyOf' : name, variants]
    }
    if (SCHEMA_MAPS.has(name) && isObject(value)) {
      const schemas = Object.entries(value).map(([key, inner]): [string, unknown] => [
        key,
        this.adaptAny(inner, depth),
      ])
      return [name, Object.fromEntries(schemas)]
    }
    return null
  }

  private adaptAny(value: unknown, depth: number): unknown {
    return isObject(value) ? this.adapt(value, depth) : value
  }
}

function describesObject({ type, properties }: JsonObject): boolean {
  if (type === undefined) return isObject(properties)
  return type === 'object' || (Array.isArray(type) && type.includes('object'))
}
