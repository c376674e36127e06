import { isObject, type JsonObject, scalarText } from '#relay/canonical/json-values.ts'
import { addLoss } from '../collect-losses.ts'

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
const REPEATS_MAX = 2
/** The maximum number of schemas that are combined into one by references and `allOf`. */
const PARTS_MAX = 64

/**
 * Replaces the references and `allOf` in a schema. `root` is the document to which the references
 * point. `refs` has the number of times that each reference was followed on the way to the schema.
 */
export function resolveSchemaReferences(
  schema: JsonObject,
  root: unknown,
  refs: ReadonlyMap<string, number>,
): ResolvedSchema {
  const flattener = new Flattener(root, new Map(refs))
  flattener.add(schema)
  return flattener
}

/** Reports whether the schema allows only null. */
export function isNullSchema(schema: unknown, root: unknown): boolean {
  if (!isObject(schema)) return false
  const { members } = resolveSchemaReferences(schema, root, new Map())
  const type = members.get('type')
  const types = Array.isArray(type) ? type : [type]
  const values = members.get('enum')
  return (
    (types.length === 1 && scalarText(types[0]).toLowerCase() === 'null') ||
    members.get('const') === null ||
    (Array.isArray(values) && values.length === 1 && values[0] === null)
  )
}

class Flattener implements ResolvedSchema {
  readonly members = new Map<string, unknown>()
  readonly refs: Map<string, number>
  readonly losses: string[] = []
  private readonly root: unknown
  private partsLeft = PARTS_MAX

  constructor(root: unknown, refs: Map<string, number>) {
    this.root = root
    this.refs = refs
  }

  /**
   * Adds the members of a schema. `properties` and `required` are merged with those that exist. Any
   * other existing member keeps its value. A different new value is reported as lost, unless the
   * member does not restrict values (`NOTES`).
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

  private addMember(name: string, value: unknown): void {
    const present = this.members.get(name)
    if (present === undefined) this.members.set(name, value)
    else if (name === 'properties' && isObject(present) && isObject(value)) {
      this.members.set(name, { ...value, ...present })
    } else if (name === 'required' && Array.isArray(present) && Array.isArray(value)) {
      this.members.set(name, [...new Set([...present, ...value])])
    } else if (!NOTES.has(name) && JSON.stringify(present) !== JSON.stringify(value)) {
      addLoss(this.losses, `allOf.${name}`)
    }
  }

  private addReference(ref: unknown): void {
    const target = typeof ref === 'string' ? resolvePointer(this.root, ref) : null
    if (typeof ref !== 'string' || !isObject(target)) {
      addLoss(this.losses, '$ref')
      return
    }
    const count = (this.refs.get(ref) ?? 0) + 1
    this.refs.set(ref, count)
    if (count <= REPEATS_MAX) {
      this.add(target)
      return
    }
    addLoss(this.losses, '$ref (recursive)')
    if (target.type !== undefined) this.addMember('type', target.type)
  }
}

const NOTES = new Set(['title', 'description', 'default', 'examples', '$defs', 'definitions'])

/**
 * Returns the value at a JSON pointer such as `#/$defs/Node`. Returns null if there is no such
 * value.
 */
function resolvePointer(root: unknown, ref: string): unknown {
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return null
  let value = root
  for (const token of ref.slice(2).split('/')) {
    const name = unescapeToken(token)
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return null
    value = (value as JsonObject)[name]
  }
  return value
}

function unescapeToken(token: string): string {
  try {
    return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return token
  }
}
