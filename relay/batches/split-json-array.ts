import { camelCased } from '../dialects/gemini/camel-case.ts'
import type { LongPiece, ResultPart } from './long-results.ts'
import type { ResultsMemory } from './result-memory-and-rate.ts'

const [QUOTE, BACKSLASH, COLON, COMMA] = [34, 92, 58, 44]
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [123, 125, 91, 93]
const KEY_BYTES_MAX = 64
const EMPTY = Buffer.alloc(0)
const DEPTH_MAX = 64

/**
 * Thrown if the JSON can't be split, because it is malformed or one of its elements is too long.
 */
export class UnsplittableJson extends Error {}

export type SplitRules = {
  /**
   * The paths of the arrays that are split. A path consists of the keys that lead to the array,
   * such as `batch/requests`. If the document has several of these arrays, only the first one with
   * elements is split. The elements of all others are dropped.
   */
  readonly paths: readonly string[]
  /** The paths of the arrays whose elements are dropped. */
  readonly dropped?: readonly string[]
  readonly elementBytesMax: number
  /**
   * Whether an element that is too long is dropped, or returned in pieces while it arrives. If
   * omitted, such an element is an error.
   */
  readonly longElements?: 'drop' | 'pieces'
  /**
   * The maximum length of the rest in bytes. The rest is the document without the elements of the
   * split and dropped arrays.
   */
  readonly restBytesMax: number
}

/**
 * Splits an array of a JSON document into its elements while the document arrives. At most one
 * element is in memory. `rest` is the document in which the split and dropped arrays are empty.
 * Neither the elements nor the rest are validated.
 */
export class JsonArraySplitter {
  private readonly rules: SplitRules
  /** The largest number of keys in a path of the rules. */
  private readonly keysMax: number
  /** The keys that lead to the current place, in camelCase. The first one is of no object. */
  private readonly keys: string[] = ['']
  private text: number[] = []
  /** The latest text outside of elements, in camelCase. */
  private latest = ''
  private isInText = false
  private isEscaped = false
  private depth = 0
  /**
   * The nesting depth of the open array whose elements are split or dropped; 0 if there is none.
   */
  private arrayDepth = 0
  private isDropping = false
  private isInElement = false
  private isTooLong = false
  private split: string | null = null
  private parts: Buffer[] = []
  private length = 0
  private found: ResultPart[] = []
  private restParts: Buffer[] = []
  private restLength = 0

  constructor(rules: SplitRules) {
    this.rules = rules
    const paths = [...rules.paths, ...(rules.dropped ?? [])]
    this.keysMax = Math.max(...paths.map((path) => path.split('/').length))
  }

  get rest(): Buffer {
    return Buffer.concat(this.restParts)
  }

  /** The number of bytes in memory of the element that has not ended. */
  get pendingBytes(): number {
    return this.isTooLong ? 0 : this.length
  }

  /** True if the document has one of the arrays in `paths`, even an empty one. */
  hasArray = false

  /** Returns the elements that end in this chunk, and pieces of elements that are too long. */
  push(chunk: Buffer): readonly ResultPart[] {
    let start = 0
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number
      if (this.isInText) {
        this.readText(byte)
        continue
      }
      const isBetween = this.arrayDepth > 0 && !this.isInElement
      if (isBetween && byte !== CLOSE_BRACKET) {
        start = this.beginElement(byte, at)
      } else if (byte === QUOTE) {
        this.isInText = true
        this.text = []
      } else if (byte === COLON) this.keys[this.depth] = this.latest
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        this.open()
        if (byte === OPEN_BRACKET && this.arrayDepth === 0 && this.beginArray()) {
          this.keep(chunk.subarray(start, at + 1))
          start = at + 1
        }
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        this.depth -= 1
        if (this.isInElement && this.depth === this.arrayDepth) {
          this.endElement(chunk.subarray(start, at + 1))
          start = at + 1
        } else if (isBetween) {
          this.arrayDepth = 0
          start = at
        }
      }
    }
    this.keep(chunk.subarray(start))
    const { found } = this
    this.found = []
    return found
  }

  private readText(byte: number): void {
    if (this.isEscaped) this.isEscaped = false
    else if (byte === BACKSLASH) this.isEscaped = true
    else if (byte === QUOTE) {
      this.isInText = false
      // A key is converted once, and not again for each of many arrays within its value.
      if (!this.isInElement) this.latest = camelCased(Buffer.from(this.text).toString('latin1'))
      return
    }
    if (!this.isInElement && this.text.length < KEY_BYTES_MAX) this.text.push(byte)
  }

  private open(): void {
    this.depth += 1
    if (this.isInElement) return
    if (this.depth > DEPTH_MAX) throw new UnsplittableJson('the JSON is nested too deeply')
    this.keys[this.depth] = ''
  }

  /**
   * Notes that an array begins at the current depth. Returns true if the elements of this array are
   * split or dropped.
   */
  private beginArray(): boolean {
    if (this.depth > this.keysMax + 1) return false
    const path = this.currentPath()
    const isSplit = this.rules.paths.includes(path)
    if (!isSplit && this.rules.dropped?.includes(path) !== true) return false
    this.hasArray ||= isSplit
    this.isDropping = !isSplit || (this.split !== null && this.split !== path)
    this.arrayDepth = this.depth
    return true
  }

  /** Returns the path of the array at the current depth. */
  private currentPath(): string {
    return this.keys.slice(1, this.depth).join('/')
  }

  private beginElement(byte: number, at: number): number {
    if (byte !== OPEN_BRACE) {
      const isSeparator = byte === COMMA || byte === 32 || (byte >= 9 && byte <= 13)
      if (!isSeparator) throw new UnsplittableJson('an element of the array is not an object')
      return at + 1
    }
    if (!this.isDropping) this.split ??= this.currentPath()
    this.isInElement = true
    this.depth += 1
    return at
  }

  private endElement(last: Buffer): void {
    this.keep(last)
    this.isInElement = false
    if (this.isTooLong) this.addPiece({ piece: EMPTY, isLast: true })
    else if (!this.isDropping) this.found.push(Buffer.concat(this.parts))
    this.parts = []
    this.length = 0
    this.isTooLong = false
  }

  private addPiece(piece: LongPiece): void {
    if (this.rules.longElements === 'pieces') this.found.push(piece)
  }

  /** Stores bytes of the current element or, outside of elements, bytes of the rest. */
  private keep(bytes: Buffer): void {
    if (bytes.length === 0) return
    if (this.isInElement) {
      if (this.isDropping) return
      if (this.isTooLong) return this.addPiece({ piece: bytes, isLast: false })
      this.length += bytes.length
      this.parts.push(bytes)
      if (this.length <= this.rules.elementBytesMax) return
      if (this.rules.longElements === undefined) {
        throw new UnsplittableJson('an element of the array is too long')
      }
      this.isTooLong = true
      this.addPiece({ piece: Buffer.concat(this.parts), isLast: false })
      this.parts = []
    } else if (this.arrayDepth === 0 || bytes.at(-1) === OPEN_BRACKET) {
      this.restLength += bytes.length
      if (this.restLength > this.rules.restBytesMax) {
        throw new UnsplittableJson('the JSON is too long')
      }
      this.restParts.push(bytes)
    }
  }
}

/**
 * Yields the elements of an array while the JSON document arrives. Throws if `memory` can't be
 * extended for a long element.
 */
export async function* elementsIn(
  chunks: AsyncIterable<Buffer>,
  rules: SplitRules,
  memory?: ResultsMemory,
): AsyncGenerator<ResultPart> {
  const splitter = new JsonArraySplitter(rules)
  for await (const chunk of chunks) {
    memory?.cover(splitter.pendingBytes + chunk.length)
    yield* splitter.push(chunk)
  }
}
