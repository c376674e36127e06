import { isDeepStrictEqual } from 'node:util'
import { isObject, type JsonObject, textOrEmpty } from '#relay/canonical/json-values.ts'
import { addLoss } from '../collect-losses.ts'
import type { SchemaReferences } from './schema-copies.ts'

/**
 * A schema in which `$ref` and `allOf` were replaced by the members of the schemas to which they
 * refer.
 */
export type ResolvedSchema = {
  readonly members: ReadonlyMap<string, unknown>
  /**
   * The number of times that each reference was followed on the way from the root to this schema,
   * and in this schema.
   */
  readonly refs: ReadonlyMap<string, number>
  /**
   * The names of what was lost, such as a reference that could not be followed (`$ref`) or a member
   * with different values in `allOf` (`allOf.type`).
   */
  readonly losses: readonly string[]
}

/**
 * The maximum number of times that one reference is followed on the way to a schema. A schema that
 * contains itself would otherwise be repeated without end.
 */
export const REPEATS_MAX = 2
/** The maximum number of schemas that are combined into one by references and `allOf`. */
export const PARTS_MAX = 64
/**
 * The maximum length of a list of properties or required names that is joined with another one. A
 * longer list may be inherited by each of many nested schemas, and joining it in each of them would
 * block the event loop.
 */
const JOINED_MAX = 4_096
/** The maximum number of schemas that are read to find out whether a schema allows only null. */
const NULL_PARTS_MAX = 8

/**
 * Replaces the references and `allOf` in a schema. `refs` has the number of times that each
 * reference was followed on the way to the schema. Throws a `SchemaSizeError` if the references add
 * too much to the schema.
 */
export function resolveSchemaReferences(
  schema: JsonObject,
  references: SchemaReferences,
  refs: ReadonlyMap<string, number>,
): ResolvedSchema {
  const flattener = new Flattener(references, new Map(refs))
  flattener.add(schema)
  flattener.finish()
  return flattener
}

/**
 * Reports whether the schema allows only null. At most `NULL_PARTS_MAX` schemas are read, because a
 * union may refer to the same schemas many times.
 */
export function isNullSchema(schema: unknown, references: SchemaReferences): boolean {
  const open = [schema]
  for (let left = NULL_PARTS_MAX; left > 0 && open.length > 0; left -= 1) {
    const part = open.pop()
    if (!isObject(part)) continue
    if (isOnlyNull(part)) return true
    if (part.$ref !== undefined) open.push(references.find(part.$ref))
    if (Array.isArray(part.allOf)) open.push(...part.allOf.slice(0, left))
  }
  return false
}

function isOnlyNull({ type, enum: values, const: value }: JsonObject): boolean {
  const [only] = Array.isArray(type) && type.length === 1 ? type : [type]
  return (
    textOrEmpty(only).toLowerCase() === 'null' ||
    value === null ||
    (Array.isArray(values) && values.length === 1 && values[0] === null)
  )
}

class Flattener implements ResolvedSchema {
  readonly members = new Map<string, unknown>()
  readonly refs: Map<string, number>
  readonly losses: string[] = []
  private readonly references: SchemaReferences
  /** The elements of `properties` and `required`, by their keys, if they were joined. */
  private readonly joined = new Map<string, Map<unknown, unknown>>()
  /** The names of members that differ. They are reported and compared no more than once. */
  private readonly differing = new Set<string>()
  private partsLeft = PARTS_MAX

  constructor(references: SchemaReferences, refs: Map<string, number>) {
    this.references = references
    this.refs = refs
  }

  /**
   * Adds the members of a schema. `properties` and `required` are joined with those that exist,
   * unless they are longer than `JOINED_MAX`. Any other existing member keeps its value. Another
   * value of it is reported as lost, unless the member does not restrict values (`NOTES`).
   */
  add(schema: JsonObject): void {
    this.partsLeft -= 1
    if (this.partsLeft < 0) {
      addLoss(this.losses, 'allOf (too many schemas)')
      return
    }
    for (const [name, value] of Object.entries(schema)) {
      if (name !== '$ref' && name !== 'allOf') this.addMember(name, value)
    }
    if (schema.$ref !== undefined) this.addReference(schema.$ref)
    if (Array.isArray(schema.allOf)) {
      for (const part of schema.allOf) if (isObject(part)) this.add(part)
    }
  }

  /** Writes the joined members. They are written once, because a schema may have many parts. */
  finish(): void {
    for (const [name, elements] of this.joined) {
      // `fromEntries` also defines a property with the name `__proto__`.
      const value =
        name === 'required'
          ? [...elements.keys()]
          : Object.fromEntries(elements as Map<string, unknown>)
      this.members.set(name, value)
    }
  }

  private addMember(name: string, value: unknown): void {
    const present = this.members.get(name)
    if (present === undefined) this.members.set(name, value)
    else if (!NOTES.has(name) && !this.differing.has(name) && !this.join(name, present, value)) {
      this.differing.add(name)
      addLoss(this.losses, `allOf.${name}`)
    }
  }

  /** Joins a value with the present one. Returns false if they differ and can't be joined. */
  private join(name: string, present: unknown, value: unknown): boolean {
    const added = elementsOf(name, value)
    const presentElements = this.joined.get(name) ?? elementsOf(name, present)
    if (added === null || presentElements === null) return isDeepStrictEqual(present, value)
    for (const [key, element] of added) {
      if (!presentElements.has(key)) presentElements.set(key, element)
    }
    this.joined.set(name, presentElements)
    return true
  }

  private addReference(ref: unknown): void {
    const target = this.references.find(ref)
    if (typeof ref !== 'string' || !isObject(target)) {
      addLoss(this.losses, '$ref')
      return
    }
    const count = (this.refs.get(ref) ?? 0) + 1
    this.refs.set(ref, count)
    if (count <= REPEATS_MAX && this.references.take(ref, target, count > 1)) {
      this.add(target)
      return
    }
    addLoss(this.losses, '$ref (recursive)')
    const { type } = target
    if (type !== undefined) this.addMember('type', Array.isArray(type) ? type.slice(0, 8) : type)
  }
}

const NOTES = new Set(['title', 'description', 'default', 'examples', '$defs', 'definitions'])

/**
 * Returns the elements of `properties` or `required` by their keys. Returns null for other members,
 * and for lists that are too long to be joined.
 */
function elementsOf(name: string, value: unknown): Map<unknown, unknown> | null {
  if (name === 'required' && Array.isArray(value)) {
    return value.length > JOINED_MAX ? null : new Map(value.map((element) => [element, true]))
  }
  if (name !== 'properties' || !isObject(value)) return null
  const entries = Object.entries(value)
  return entries.length > JOINED_MAX ? null : new Map(entries)
}
