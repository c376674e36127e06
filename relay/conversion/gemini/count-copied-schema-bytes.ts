import { isObject, type JsonObject, parsedObject } from '#relay/canonical/json-values.ts'
import { PARTS_MAX, REPEATS_MAX } from './resolve-schema-references.ts'
import { SchemaCopies, SchemaReferences } from './schema-copies.ts'
import { DEPTH_MAX } from './write-gemini-schema.ts'

/**
 * The maximum number of bytes of copies in one request. The schemas of an agent with a hundred
 * tools have far fewer.
 */
const BYTES_MAX = 256 * 1024
/** The bytes of copies that a request of any length may have. A shorter request may have fewer. */
const BYTES_OF_ANY_REQUEST = 64 * 1024
/** The maximum number of bytes of copies for each byte of a short request. */
const COPIES_OF_SHORT_REQUEST = 16
/**
 * The maximum length of a request whose references are followed to count the copies. Parsing a
 * longer request would block the event loop for a caller who may be unable to pay. The copies of a
 * longer request are few compared with its length.
 */
const PARSED_BYTES_MAX = 1024 * 1024

/** The key of a reference, as almost all clients write it. An escaped spelling gets no copies. */
const REFERENCE = '"$ref"'

/** Reports whether the request has a reference. This native search is fast. */
export const mayCopySchemas = (body: Buffer): boolean => body.includes(REFERENCE)

/** Caches the counts. All alternatives of a request, and its conversion, share its body. */
const COUNTS = new WeakMap<Buffer, number>()

/**
 * Returns the number of bytes of schemas that conversion to Gemini's format may repeat because it
 * replaces references by copies. The hold counts each of these bytes as a token. The conversion
 * refuses a request with more. The references in the schemas of tools and of the answer are
 * followed as the conversion follows them, so that a request without repeated references has no
 * such bytes. What the conversion adds to each schema, such as a missing type, is not included.
 */
export function copiedSchemaBytesOf(body: Buffer): number {
  const existing = COUNTS.get(body)
  if (existing !== undefined) return existing
  const count = mayCopySchemas(body) ? countCopiedBytes(body) : 0
  COUNTS.set(body, count)
  return count
}

/** Returns the copies that the conversion of a request may make. */
export const schemaCopiesOf = (body: Buffer): SchemaCopies =>
  new SchemaCopies(copiedSchemaBytesOf(body), body.length)

/** The top-level members of requests, in all callers' formats, that contain schemas. */
const MEMBERS_WITH_SCHEMAS = [
  ...(['tools', 'functions', 'response_format', 'text'] as const),
  ...(['output_config', 'output_format'] as const),
]
/** The members that are schemas. */
const SCHEMAS: ReadonlySet<string> = new Set(['parameters', 'input_schema', 'schema'])
/** The maximum depth of a schema in a request. The schemas of a namespace's tools are deepest. */
const SCHEMA_DEPTH_MAX = 8

function countCopiedBytes(body: Buffer): number {
  const max = Math.min(
    body.length * COPIES_OF_SHORT_REQUEST,
    body.length + BYTES_OF_ANY_REQUEST,
    BYTES_MAX,
  )
  if (body.length > PARSED_BYTES_MAX) return max
  const request = parsedObject(body)
  if (request === null) return 0
  const copies = new SchemaCopies(max, body.length)
  const areAllTaken = MEMBERS_WITH_SCHEMAS.every((name) => takeCopiesIn(request[name], copies, 0))
  return areAllTaken ? max - copies.left : max
}

/** Counts the copies in the schemas in `value`. Returns false if there are more than allowed. */
function takeCopiesIn(value: unknown, copies: SchemaCopies, depth: number): boolean {
  if (typeof value !== 'object' || value === null || depth > SCHEMA_DEPTH_MAX) return true
  return Object.entries(value).every(([name, inner]) =>
    SCHEMAS.has(name) && isObject(inner)
      ? new CopyCounter(inner, copies).take(inner, 0, 0)
      : takeCopiesIn(inner, copies, depth + 1),
  )
}

/** Counts the copies that replace the references in one schema document. */
class CopyCounter {
  private readonly references: SchemaReferences
  /** The number of times that each reference was followed on the way to the present schema. */
  private readonly repeats = new Map<string, number>()

  constructor(root: JsonObject, copies: SchemaCopies) {
    this.references = new SchemaReferences(root, copies, '')
  }

  /**
   * Counts the copies in a schema at `depth`. `parts` is the number of references and `allOf` that
   * were followed at this depth. Returns false if there are more copies than allowed.
   */
  take(schema: unknown, depth: number, parts: number): boolean {
    if (!isObject(schema) || parts >= PARTS_MAX) return true
    if (typeof schema.$ref === 'string' && !this.takeReference(schema.$ref, depth, parts)) {
      return false
    }
    const takeInner = (inner: unknown) => this.take(inner, depth + 1, 0)
    return (
      listOf(schema.allOf).every((part) => this.take(part, depth, parts + 1)) &&
      (depth >= DEPTH_MAX ||
        (listOf(schema.properties).every(takeInner) &&
          (Array.isArray(schema.items) ? schema.items : [schema.items]).every(takeInner) &&
          UNIONS.every((name) => listOf(schema[name]).every(takeInner))))
    )
  }

  private takeReference(ref: string, depth: number, parts: number): boolean {
    const target = this.references.find(ref)
    const count = (this.repeats.get(ref) ?? 0) + 1
    if (!isObject(target) || count > REPEATS_MAX) return true
    if (!this.references.tryTake(ref, target)) return false
    this.repeats.set(ref, count)
    const isTaken = this.take(target, depth, parts + 1)
    this.repeats.set(ref, count - 1)
    return isTaken
  }
}

const UNIONS = ['prefixItems', 'anyOf', 'oneOf'] as const

/** Returns the elements of a list or the values of an object's members. */
const listOf = (value: unknown): readonly unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value) : []
