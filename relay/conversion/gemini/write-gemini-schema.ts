import { isObject, type JsonObject } from '#relay/canonical/json-values.ts'
import type { Converted } from '../../canonical/canonical-request.ts'
import { DistinctLosses, shortPath } from '../collect-losses.ts'
import {
  isNullSchema,
  type ResolvedSchema,
  resolveSchemaReferences,
} from './resolve-schema-references.ts'
import { type SchemaCopies, SchemaReferences } from './schema-copies.ts'

/** The maximum depth of a schema. Gemini refuses schemas that are nested much deeper. */
export const DEPTH_MAX = 24
/**
 * The maximum number of schemas in one schema. With references, a short text can describe an
 * enormous schema.
 */
const NODES_MAX = 4000

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'])

/**
 * The members of a schema that do not restrict values. They are dropped without being reported as
 * lost.
 */
const NOTES = new Set([
  ...['$schema', '$id', '$anchor', '$comment', '$defs', 'definitions'],
  ...['examples', 'example', 'deprecated', 'readOnly', 'writeOnly', '$vocabulary'],
])
/**
 * The members of a schema that can be written. Many of them are written only for the types that
 * they affect. A member that is neither in this set nor in `NOTES` is reported as lost.
 */
const HANDLED = new Set([
  ...['type', 'nullable', 'title', 'description', 'default', 'enum', 'const', 'format'],
  ...['minLength', 'maxLength', 'pattern', 'minimum', 'maximum'],
  ...['exclusiveMinimum', 'exclusiveMaximum', 'items', 'prefixItems', 'minItems', 'maxItems'],
  ...['properties', 'required', 'propertyOrdering', 'minProperties', 'maxProperties'],
  ...['anyOf', 'oneOf'],
])
/** The members that are moved into the schemas of a union. */
const IN_BRANCHES = new Set([...HANDLED].filter((name) => name !== 'anyOf' && name !== 'oneOf'))
/** The members that are written for every type. */
const DESCRIPTIVE = new Set(['title', 'description', 'default'])
const STRUCTURE = ['properties', 'items', 'enum', 'const', 'prefixItems']
/**
 * The formats of strings, integers and numbers that Gemini accepts. Gemini refuses all other
 * formats.
 */
const FORMATS = new Map([
  ['string', new Set(['date-time'])],
  ['integer', new Set(['int32', 'int64'])],
  ['number', new Set(['float', 'double'])],
])

/**
 * Converts a JSON schema to Gemini's dialect, a subset of OpenAPI 3.0. References are replaced by
 * the schemas to which they refer. On the way to a schema, one reference is followed at most twice.
 * `path` is the beginning of the paths of losses. Throws a `SchemaSizeError` for the member `label`
 * if more copies are necessary than `copies` allows.
 */
export function toGeminiSchema(
  schema: unknown,
  path: string,
  copies: SchemaCopies,
  label = path,
): Converted<JsonObject> {
  const writer = new SchemaWriter(new SchemaReferences(schema, copies, label))
  const value = writer.write(schema, { path, depth: 0, refs: new Map() })
  return { value, losses: writer.losses.list }
}

/** The position of a schema: its path, its depth, and the references that led to it. */
type Place = {
  readonly path: string
  readonly depth: number
  readonly refs: ReadonlyMap<string, number>
}

class SchemaWriter {
  readonly losses = new DistinctLosses()
  private readonly references: SchemaReferences
  private nodesLeft = NODES_MAX

  constructor(references: SchemaReferences) {
    this.references = references
  }

  write(schema: unknown, at: Place): JsonObject {
    this.nodesLeft -= 1
    if (!isObject(schema)) return this.writeAny(at.path)
    const flat = resolveSchemaReferences(schema, this.references, at.refs)
    for (const loss of flat.losses) this.lose(at.path, loss)
    for (const name of flat.members.keys()) {
      if (!HANDLED.has(name) && !NOTES.has(name) && !name.startsWith('x-')) this.lose(at.path, name)
    }
    const place = { ...at, refs: flat.refs }
    return this.writeUnion(flat, place) ?? this.writeTyped(flat, place)
  }

  private lose(path: string, name: string): void {
    this.losses.add(`${path}.${name}`)
  }

  /**
   * Writes a schema that allows any value, and reports a loss. Gemini requires a type, and a string
   * can express every value.
   */
  private writeAny(path: string): JsonObject {
    this.losses.add(`${path} (any type)`)
    return { type: 'STRING' }
  }

  /**
   * Writes `anyOf`, `oneOf` or several types. Gemini allows no members next to `anyOf`, so the
   * other members of the schema are moved into the schemas of the union. Returns null if the schema
   * is not a union. Also returns null, and reports `anyOf` or `oneOf` as lost, if the schema has
   * one of the members in `STRUCTURE`.
   */
  private writeUnion({ members }: ResolvedSchema, at: Place): JsonObject | null {
    const name = members.has('anyOf') ? 'anyOf' : 'oneOf'
    const listed = members.get(name)
    const schemas = Array.isArray(listed) ? listed : null
    if (name === 'anyOf' && members.has('oneOf')) this.lose(at.path, 'oneOf')
    const outer = Object.fromEntries([...members].filter(([key]) => IN_BRANCHES.has(key)))
    if (schemas !== null && schemas.length > 0) {
      if (STRUCTURE.some((member) => members.has(member))) {
        this.lose(at.path, name)
        return null
      }
      const rest = schemas.filter((each) => !isNullSchema(each, this.references))
      const isNullable = rest.length < schemas.length || typesOf(outer).includes('null')
      const shared = sharedMembers(outer)
      const [first, later] = this.copied(shared, (key) => key !== 'type', rest.length, at)
      const branches = rest.map((each, index) => withShared(index === 0 ? first : later, each))
      return this.writeBranches(branches, isNullable, at)
    }
    const types = typesOf(outer).filter((type) => type !== 'null')
    if (types.length < 2) return null
    const [first, later] = this.copied(outer, (key) => DESCRIPTIVE.has(key), types.length, at)
    const branches = types.map((type, index) => ({ ...(index === 0 ? first : later), type }))
    return this.writeBranches(branches, typesOf(outer).includes('null'), at)
  }

  /**
   * Returns the members that the first schema and the later schemas of a union get from the schema
   * that contains the union. If too few bytes are left for the copies, the later schemas do not get
   * the members for which `isCopied` is true.
   */
  private copied(
    members: JsonObject,
    isCopied: (name: string) => boolean,
    count: number,
    { path }: Place,
  ): readonly [JsonObject, JsonObject] {
    const entries = Object.entries(members)
    const copies = Object.fromEntries(entries.filter(([name]) => isCopied(name)))
    if (this.references.takeShared(copies, count - 1)) return [members, members]
    this.losses.add(`${path} (shared members)`)
    return [members, Object.fromEntries(entries.filter(([name]) => !isCopied(name)))]
  }

  /** Writes the schemas of a union. Equal schemas are written once. */
  private writeBranches(schemas: readonly unknown[], isNullable: boolean, at: Place): JsonObject {
    if (this.isBeyondLimits(at)) return this.writeAny(`${at.path} (too deep)`)
    if (schemas.length === 0) return { type: 'NULL' }
    const place = { ...at, depth: at.depth + 1 }
    // Nested unions are merged into this one.
    const written = schemas
      .map((schema) => this.write(schema, place))
      .flatMap((each) => (Array.isArray(each.anyOf) ? each.anyOf.filter(isObject) : [each]))
      .map((each) => (isNullable ? { ...each, nullable: true } : each))
    const distinct = new Map(written.map((each) => [JSON.stringify(each), each]))
    const branches = [...distinct.values()]
    const [branch] = branches
    return branches.length === 1 && branch !== undefined ? branch : { anyOf: branches }
  }

  private isBeyondLimits({ depth }: Place): boolean {
    return depth >= DEPTH_MAX || this.nodesLeft <= 0
  }

  private writeTyped({ members }: ResolvedSchema, at: Place): JsonObject {
    const schema = Object.fromEntries(members)
    const type = typesOf(schema).find((each) => each !== 'null') ?? inferType(schema)
    if (type === null) {
      if (typesOf(schema).includes('null') || schema.const === null) return { type: 'NULL' }
      return { ...this.writeAny(at.path), ...notesOf(schema) }
    }
    const isNullable =
      typesOf(schema).includes('null') ||
      schema.nullable === true ||
      (Array.isArray(schema.enum) && schema.enum.includes(null))
    return {
      type: type.toUpperCase(),
      ...notesOf(schema),
      ...(isNullable && { nullable: true }),
      ...this.writeConstraints(type, schema, at),
    }
  }

  private writeConstraints(type: string, schema: JsonObject, at: Place): JsonObject {
    const format = this.writeFormat(type, schema, at.path)
    if (type === 'string') {
      const texts = this.writeEnum(schema, at.path)
      return {
        ...format,
        ...numbersOf(schema, ['minLength', 'maxLength']),
        ...pattern(schema),
        ...texts,
      }
    }
    if (type === 'integer' || type === 'number') {
      return { ...format, ...this.writeRange(type, schema, at.path) }
    }
    if (type === 'array') return this.writeArray(schema, at)
    if (type === 'object') return this.writeObject(schema, at)
    if (schema.enum !== undefined) this.lose(at.path, 'enum')
    if (schema.const !== undefined) this.lose(at.path, 'const')
    return {}
  }

  private writeFormat(type: string, { format }: JsonObject, path: string): JsonObject {
    if (typeof format !== 'string') return {}
    if (FORMATS.get(type)?.has(format)) return { format }
    if (format !== 'enum') this.lose(path, 'format')
    return {}
  }

  /**
   * Writes the `enum` or `const` of a string. In Gemini's dialect, an `enum` can contain only
   * strings that are not empty.
   */
  private writeEnum(schema: JsonObject, path: string): JsonObject {
    const name = schema.const === undefined ? 'enum' : 'const'
    const listed = schema.const === undefined ? schema.enum : [schema.const]
    if (!Array.isArray(listed)) return {}
    const texts = listed.filter((value) => typeof value === 'string' && value !== '')
    if (texts.length < listed.filter((value) => value !== null).length) this.lose(path, name)
    return texts.length === 0 ? {} : { format: 'enum', enum: [...new Set(texts)] }
  }

  private writeRange(type: string, schema: JsonObject, path: string): JsonObject {
    const listed = schema.const === undefined ? schema.enum : [schema.const]
    const numbers = Array.isArray(listed) ? listed.filter((each) => typeof each === 'number') : []
    if (numbers.length === 1) return { minimum: numbers[0], maximum: numbers[0] }
    if (numbers.length > 1) this.lose(path, 'enum')
    return {
      ...this.writeLimit(
        'minimum',
        'exclusiveMinimum',
        type === 'integer' ? 1 : null,
        schema,
        path,
      ),
      ...this.writeLimit(
        'maximum',
        'exclusiveMaximum',
        type === 'integer' ? -1 : null,
        schema,
        path,
      ),
    }
  }

  /**
   * Writes an upper or lower limit. An exclusive limit of an integer is replaced by the next
   * integer, which is `step` away. If `step` is null or the limit is not an integer, the limit
   * becomes inclusive, and `exclusive` is reported as lost.
   */
  private writeLimit(
    name: string,
    exclusive: string,
    step: number | null,
    schema: JsonObject,
    path: string,
  ): JsonObject {
    const limit = schema[exclusive]
    if (typeof limit !== 'number') return numbersOf(schema, [name])
    if (step !== null && Number.isInteger(limit)) return { [name]: limit + step }
    this.lose(path, exclusive)
    return { [name]: limit }
  }

  /** Writes an array. Gemini requires `items`. The schemas of a tuple become one union. */
  private writeArray(schema: JsonObject, at: Place): JsonObject {
    const counts = numbersOf(schema, ['minItems', 'maxItems'])
    const place = { ...at, path: `${at.path}.items`, depth: at.depth + 1 }
    if (this.isBeyondLimits(at)) return { items: this.writeAny(`${place.path} (too deep)`) }
    const tuple = Array.isArray(schema.prefixItems) ? schema.prefixItems : schema.items
    if (!Array.isArray(tuple)) return { ...counts, items: this.write(schema.items, place) }
    this.lose(at.path, Array.isArray(schema.prefixItems) ? 'prefixItems' : 'items')
    const items =
      tuple.length === 0 ? this.writeAny(place.path) : this.writeBranches(tuple, false, place)
    return { minItems: tuple.length, maxItems: tuple.length, ...counts, items }
  }

  private writeObject(schema: JsonObject, at: Place): JsonObject {
    const counts = numbersOf(schema, ['minProperties', 'maxProperties'])
    if (!isObject(schema.properties)) return counts
    if (this.isBeyondLimits(at)) {
      this.losses.add(`${at.path}.properties (too deep)`)
      return counts
    }
    const properties = Object.entries(schema.properties).flatMap(([name, property]) => {
      const path = shortPath(`${at.path}.properties.${name}`)
      if (property !== false) {
        return [[name, this.write(property, { ...at, path, depth: at.depth + 1 })] as const]
      }
      this.losses.add(path)
      return []
    })
    const names = new Set(properties.map(([name]) => name))
    if (names.size === 0) return counts
    const required = this.writeNames(schema.required, names, `${at.path}.required`)
    const ordering = this.writeNames(schema.propertyOrdering, names, `${at.path}.propertyOrdering`)
    return {
      ...counts,
      // `fromEntries` also defines a property with the name `__proto__`.
      properties: Object.fromEntries(properties),
      ...(required.length > 0 && { required }),
      ...(ordering.length > 0 && { propertyOrdering: ordering }),
    }
  }

  /**
   * Returns the elements of the list `value` that are in `names`, which are the names of the
   * object's properties. Gemini refuses any other name.
   */
  private writeNames(value: unknown, names: ReadonlySet<string>, path: string): string[] {
    if (!Array.isArray(value)) return []
    const defined = [...new Set(value)].filter((name) => names.has(name))
    if (defined.length < value.length) this.losses.add(path)
    return defined
  }
}

function typesOf({ type }: JsonObject): readonly string[] {
  const types = Array.isArray(type) ? type : [type]
  const names = types.map((each) => (typeof each === 'string' ? each.toLowerCase() : ''))
  return [...new Set(names)].filter((each) => TYPES.has(each))
}

function inferType(schema: JsonObject): string | null {
  if (isObject(schema.properties) || schema.required !== undefined) return 'object'
  if (schema.items !== undefined || schema.prefixItems !== undefined) return 'array'
  const listed = Array.isArray(schema.enum) ? schema.enum : [schema.const]
  const sample = listed.find((value) => value !== null && value !== undefined)
  if (typeof sample === 'string' || typeof sample === 'boolean') return typeof sample
  if (typeof sample === 'number') return listed.every(Number.isInteger) ? 'integer' : 'number'
  if (schema.pattern !== undefined || schema.minLength !== undefined) return 'string'
  if (schema.minimum !== undefined || schema.maximum !== undefined) return 'number'
  return null
}

/**
 * Returns the members of a schema that contains a union that the schemas of the union get. One type
 * is enough for them.
 */
function sharedMembers(outer: JsonObject): JsonObject {
  const type = typesOf(outer).find((each) => each !== 'null')
  const shared = Object.entries(outer).filter(([name]) => !NOT_SHARED.has(name))
  return { ...Object.fromEntries(shared), ...(type === undefined ? {} : { type }) }
}

/** Adds shared members to one schema of a union. Members of this schema take precedence. */
function withShared({ type, ...shared }: JsonObject, inner: unknown): unknown {
  if (!isObject(inner)) return inner
  const outerType = type === undefined || inner.$ref !== undefined ? {} : { type }
  return { ...shared, ...outerType, ...inner }
}

const NOT_SHARED = new Set(['type', 'nullable', 'default'])

function notesOf({ title, description, default: value }: JsonObject): JsonObject {
  return {
    ...(typeof title === 'string' && title !== '' && { title }),
    ...(typeof description === 'string' && description !== '' && { description }),
    ...(value !== undefined && value !== null && { default: value }),
  }
}

const numbersOf = (schema: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(
    names.flatMap((name) => (typeof schema[name] === 'number' ? [[name, schema[name]]] : [])),
  )

const pattern = (schema: JsonObject): JsonObject =>
  typeof schema.pattern === 'string' ? { pattern: schema.pattern } : {}
