import { isAt, type ObjectVisitor } from './check-nested-json-members.ts'
import { ELEMENT_DEPTH, PART_DEPTH, quoted } from './openai-chat/find-message-parts-and-tools.ts'

/**
 * Where the requests of a format contain signatures of thinking, and how a signature begins that
 * the gateway made. `root` is the request's member with the conversation. `members` are the names
 * of the members whose values are signatures.
 */
export type SignatureLocations = {
  readonly root: string
  /**
   * The member of each element of the conversation that lists the objects with signatures. Null if
   * the elements themselves have signatures.
   */
  readonly list: string | null
  readonly members: readonly Buffer[]
  /** The beginnings of signatures that the gateway made, as JSON with the opening quote. */
  readonly beginnings: readonly Buffer[]
}

/** An object that may have a signature. Positions are byte offsets. */
export type SignedObject = {
  readonly start: number
  end: number
  /** The JSON string of the member `type`, with its quotes. */
  type: string
  /** The position of the member with a signature that the gateway made. Null if there is none. */
  signature: { readonly keyStart: number; readonly valueStart: number } | null
  /** True if the object has a member other than its signature, `thought` and an empty text. */
  hasContent: boolean
  hasCall: boolean
}

/** An element of the conversation, with its parts that may have signatures. */
export type SignedElement = SignedObject & { readonly parts: SignedObject[] }

const QUOTE = 34
const OPEN_BRACKET = 91
const QUOTED_TYPE = quoted('type')
const TEXT = quoted('text')
const THOUGHT = quoted('thought')
const CALLS = ['functionCall', 'function_call'].map(quoted)
const TYPE_BYTES_MAX = 64

/**
 * Lists the objects of a request that may have a signature, while the body is scanned. For each
 * object with a signature that the gateway made, the position of this signature is stored.
 */
export class SignedObjectFinder implements ObjectVisitor {
  readonly elements: SignedElement[] = []
  /**
   * True if one of the searched lists contains values other than objects. These values are missing
   * in `elements`.
   */
  isMixed = false
  private readonly bytes: Buffer
  private readonly locations: SignatureLocations
  private readonly list: Buffer
  private isInRoot = false
  private isInList = false

  constructor(bytes: Buffer, locations: SignatureLocations) {
    this.bytes = bytes
    this.locations = locations
    this.list = quoted(locations.list ?? '')
  }

  begin(key: string): void {
    this.isInRoot = key === this.locations.root
    this.isInList = false
  }

  visits(depth: number): boolean {
    if (!this.isInRoot) return false
    return depth === ELEMENT_DEPTH || (depth === PART_DEPTH && this.isInList)
  }

  enter(depth: number, start: number): void {
    const object = {
      start,
      end: start,
      type: '',
      signature: null,
      hasContent: false,
      hasCall: false,
    }
    if (depth === PART_DEPTH) this.elements.at(-1)?.parts.push(object)
    else {
      this.isInList = false
      this.elements.push({ ...object, parts: [] })
    }
  }

  member(depth: number, start: number, end: number, valueStart: number): void {
    const { list, members, beginnings } = this.locations
    if (depth === ELEMENT_DEPTH && list !== null) {
      this.isInList = this.is(start, end, this.list) && this.bytes[valueStart] === OPEN_BRACKET
      return
    }
    const object = this.openAt(depth)
    if (object === undefined) return
    if (this.isOneOf(start, end, members)) {
      const isForeign = beginnings.some((one) => isAt(this.bytes, valueStart, one))
      if (isForeign) object.signature = { keyStart: start, valueStart }
    } else if (!this.is(start, end, THOUGHT) && !this.isEmptyText(start, end, valueStart)) {
      object.hasContent = true
      if (this.isOneOf(start, end, CALLS)) object.hasCall = true
      if (this.is(start, end, QUOTED_TYPE)) object.type = this.shortTextAt(valueStart)
    }
  }

  leave(depth: number, end: number): void {
    const object = this.openAt(depth)
    if (object !== undefined) object.end = end
  }

  mixedArray(depth: number): void {
    if (!this.isInRoot) return
    if (depth === ELEMENT_DEPTH - 1 || (depth === PART_DEPTH - 1 && this.isInList)) {
      this.isMixed = true
    }
  }

  private openAt(depth: number): SignedObject | undefined {
    const element = this.elements.at(-1)
    return depth === PART_DEPTH ? element?.parts.at(-1) : element
  }

  private isEmptyText(start: number, end: number, valueStart: number): boolean {
    const isText = this.is(start, end, TEXT) && this.bytes[valueStart] === QUOTE
    return isText && this.bytes[valueStart + 1] === QUOTE
  }

  private isOneOf(start: number, end: number, names: readonly Buffer[]): boolean {
    return names.some((name) => this.is(start, end, name))
  }

  private is(start: number, end: number, name: Buffer): boolean {
    return end - start === name.length && isAt(this.bytes, start, name)
  }

  /**
   * Returns the string at `start` with its quotes. Returns an empty string for a string that is too
   * long or a value of another kind.
   */
  private shortTextAt(start: number): string {
    if (this.bytes[start] !== QUOTE) return ''
    const end = this.bytes.indexOf(QUOTE, start + 1) + 1
    return end - start > TYPE_BYTES_MAX ? '' : this.bytes.toString('latin1', start, end)
  }
}
