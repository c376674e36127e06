import { SchemaSizeError } from '../../canonical/canonical-request.ts'

/** The bytes of a copy that are counted in addition to its text. */
const BYTES_PER_COPY = 32
/**
 * The bytes that the schemas of unions may repeat in a request of any length, the part of a longer
 * request's length that they may have, and their maximum. The hold (the reserved quota) does not
 * count them, because the punctuation of JSON, which it counts, usually has more bytes that are no
 * tokens.
 */
const UNION_BYTES_OF_ANY_REQUEST = 2_048
const UNION_PART = 8
const UNION_BYTES_MAX = 16 * 1024

/** The bytes that the schemas of one request may still repeat. */
export class SchemaCopies {
  private bytesLeft: number
  private unionBytesLeft: number
  private readonly definitions = new Set<object>()
  private readonly lengths = new Map<object, number>()

  /** `bytesMax` limits the copies. The length of the request limits what unions repeat. */
  constructor(bytesMax: number, requestLength: number) {
    this.bytesLeft = bytesMax
    const ofLength = Math.max(UNION_BYTES_OF_ANY_REQUEST, Math.floor(requestLength / UNION_PART))
    this.unionBytesLeft = Math.min(UNION_BYTES_MAX, ofLength)
  }

  /** The number of bytes of copies that are still allowed. */
  get left(): number {
    return this.bytesLeft
  }

  /**
   * Counts a copy of a schema that replaces a reference. Returns false if too few bytes are left.
   * The first copy of a definition is not counted, because the definition itself is not written.
   */
  takeSchema(schema: object, isDefinition: boolean): boolean {
    if (isDefinition && !this.definitions.has(schema)) {
      this.definitions.add(schema)
      return true
    }
    const length = this.lengths.get(schema) ?? jsonBytes(schema)
    this.lengths.set(schema, length)
    const bytes = length + BYTES_PER_COPY
    if (bytes > this.bytesLeft) return false
    this.bytesLeft -= bytes
    return true
  }

  /** Counts copies of members that the schemas of a union share. Returns false as above. */
  takeShared(members: object, copies: number): boolean {
    if (copies < 1 || Object.keys(members).length === 0) return true
    const bytes = jsonBytes(members) * copies
    if (bytes > this.unionBytesLeft) return false
    this.unionBytesLeft -= bytes
    return true
  }
}

const jsonBytes = (value: object): number => Buffer.byteLength(JSON.stringify(value))

const REF_LENGTH_MAX = 512
/** Matches a reference to a definition, which is written only where it is referred to. */
const DEFINITION = /^#\/(?:\$defs|definitions)\/[^/]+$/

/** The schema document to which references point, and the copies that it may still have. */
export class SchemaReferences {
  private readonly root: unknown
  private readonly copies: SchemaCopies
  private readonly label: string

  /** `label` names the document in an error. */
  constructor(root: unknown, copies: SchemaCopies, label: string) {
    this.root = root
    this.copies = copies
    this.label = label
  }

  /**
   * Returns the value at a JSON pointer such as `#/$defs/Node`. Returns null if there is no such
   * value, or if the pointer is longer than any of a usual schema.
   */
  find(ref: unknown): unknown {
    if (typeof ref !== 'string' || ref.length > REF_LENGTH_MAX) return null
    if (ref === '#') return this.root
    if (!ref.startsWith('#/')) return null
    let value = this.root
    for (const token of ref.slice(2).split('/')) {
      const name = unescapeToken(token)
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return null
      value = (value as Record<string, unknown>)[name]
    }
    return value
  }

  /**
   * Counts a copy of the schema to which `ref` refers. If too few bytes are left, returns false for
   * a schema within itself, which can be cut, and throws an error for any other schema.
   */
  take(ref: string, schema: object, isRecursive: boolean): boolean {
    if (this.tryTake(ref, schema)) return true
    if (isRecursive || ref === '#') return false
    throw new SchemaSizeError(this.label, 'The references in the schema add too much to it.')
  }

  /** Counts a copy of the schema to which `ref` refers. Returns false if too few bytes are left. */
  tryTake(ref: string, schema: object): boolean {
    return this.copies.takeSchema(schema, DEFINITION.test(ref))
  }

  /** Counts copies of members that the schemas of a union share. */
  takeShared(members: object, copies: number): boolean {
    return this.copies.takeShared(members, copies)
  }
}

function unescapeToken(token: string): string {
  try {
    return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return token
  }
}
