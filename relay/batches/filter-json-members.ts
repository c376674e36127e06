const [QUOTE, BACKSLASH, COLON, COMMA] = [34, 92, 58, 44]
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [123, 125, 91, 93]
/** A member with a longer name is dropped. */
const KEY_BYTES_MAX = 256
/** The initial length of the output's buffer. */
const OUTPUT_BYTES = 1024
const EMPTY = Buffer.alloc(0)
/** A value with the rule `short` is dropped if it is longer. */
const SHORT_BYTES_MAX = 64 * 1024

/**
 * How a member of a JSON object is handled. `enter`: the members of its value are handled by rules
 * as well; a value that is not an object is handled like `short`. `pass`: the value is passed on
 * unchanged while it arrives. `short`: the value is passed on once it is complete, unless it is too
 * long. `drop`: the member is left out. `text`: the value is replaced by this JSON text.
 */
export type MemberRule = 'enter' | 'pass' | 'short' | 'drop' | { readonly text: string }

/** Returns the rule for a member. `path` consists of the names that lead to it, as in `a/b`. */
export type RuleOf = (path: string) => MemberRule

/** `broken`: the document is not a JSON object. */
type State = 'start' | 'member' | 'key' | 'colon' | 'value' | 'inside' | 'over' | 'broken'

/**
 * Passes members of a JSON object on while the object arrives, according to rules. Only one short
 * value is in memory. Values are not validated.
 */
export class JsonMemberFilter {
  private readonly ruleOf: RuleOf
  /** The maximum number of bytes of all short values and of all objects that are entered. */
  private shortBytesLeft: number
  private state: State = 'start'
  /** The names of the objects that were entered, beginning with the document itself. */
  private readonly path: string[] = []
  /** For each of these objects, whether a member of it was passed on. */
  private readonly hasMember: boolean[] = []
  private key: number[] = []
  private isKeyTooLong = false
  private rule: Exclude<MemberRule, 'enter' | { readonly text: string }> = 'drop'
  /** The kind of the value that is read, and the nesting depth in it. */
  private isScalar = false
  private depth = 0
  private isInText = false
  private isEscaped = false
  private short: Buffer[] = []
  private shortLength = 0
  private output = EMPTY
  private outputLength = 0

  constructor(ruleOf: RuleOf, shortBytesMax: number) {
    this.ruleOf = ruleOf
    this.shortBytesLeft = shortBytesMax
  }

  /** True once the document has ended. */
  get isOver(): boolean {
    return this.state === 'over'
  }

  /** The text that completes the output if the document ends here and no rule is `pass`. */
  get closing(): string {
    return '}'.repeat(this.path.length)
  }

  /**
   * Reads the next bytes of the document. Returns what is passed on. Reading blocks the event loop,
   * so that a chunk must be short.
   */
  push(chunk: Buffer): Buffer {
    let at = 0
    while (at < chunk.length) at = this.step(chunk, at)
    const passed = this.output.subarray(0, this.outputLength)
    this.output = EMPTY
    this.outputLength = 0
    return passed
  }

  /**
   * Adds bytes to the output. All bytes are in one buffer, because a buffer for each of many small
   * members would need many times as much memory as the chunk.
   */
  private write(bytes: Uint8Array | readonly number[]): void {
    const length = this.outputLength + bytes.length
    if (length > this.output.length) {
      const longer = Buffer.allocUnsafe(Math.max(length, 2 * this.output.length, OUTPUT_BYTES))
      longer.set(this.output.subarray(0, this.outputLength))
      this.output = longer
    }
    this.output.set(bytes, this.outputLength)
    this.outputLength = length
  }

  /** Reads at least one byte or changes the state. Returns the offset of the next byte. */
  private step(chunk: Buffer, at: number): number {
    const byte = chunk[at] as number
    if (this.state === 'inside') return this.readValue(chunk, at)
    if (this.state === 'key') return this.readKey(byte, at)
    if (this.state === 'over' || this.state === 'broken') return chunk.length
    if (isSpace(byte)) return at + 1
    if (this.state === 'value') return this.beginValue(byte, at)
    if (this.state === 'start' && byte === OPEN_BRACE) this.open('')
    else if (this.state === 'colon' && byte === COLON) this.state = 'value'
    else if (this.state === 'member' && byte === QUOTE) {
      this.state = 'key'
      this.key = []
      this.isKeyTooLong = false
    } else if (this.state === 'member' && byte === CLOSE_BRACE) this.close()
    else if (this.state !== 'member' || byte !== COMMA) this.state = 'broken'
    return at + 1
  }

  private readKey(byte: number, at: number): number {
    const isEnd = byte === QUOTE && !this.isEscaped
    this.isEscaped = byte === BACKSLASH && !this.isEscaped
    if (isEnd) this.state = 'colon'
    else if (this.key.length < KEY_BYTES_MAX) this.key.push(byte)
    else this.isKeyTooLong = true
    return at + 1
  }

  private beginValue(byte: number, at: number): number {
    if (byte === COMMA || byte === CLOSE_BRACE) {
      // A member without a value is left out, because the output would be no JSON with it.
      this.state = 'member'
      return at
    }
    const name = nameIn(this.key)
    const path = [...this.path.slice(1), name].join('/')
    const rule = this.isKeyTooLong ? 'drop' : this.ruleOf(path)
    if (rule === 'enter' && byte === OPEN_BRACE && this.shortBytesLeft > 0) {
      this.shortBytesLeft -= this.key.length + SYNTAX_BYTES
      this.writeName()
      this.open(name)
      return at + 1
    }
    if (rule === 'pass' || typeof rule === 'object') this.writeName()
    if (typeof rule === 'object') this.write(Buffer.from(rule.text))
    this.rule = typeof rule === 'object' ? 'drop' : rule === 'enter' ? 'short' : rule
    this.state = 'inside'
    this.isScalar = byte !== QUOTE && byte !== OPEN_BRACE && byte !== OPEN_BRACKET
    this.depth = 0
    this.short = []
    this.shortLength = 0
    return at
  }

  /** Reads a value until its end or the end of the chunk. */
  private readValue(chunk: Buffer, start: number): number {
    const end = this.isScalar ? endOfScalar(chunk, start) : this.endOfNested(chunk, start)
    const at = end < 0 ? chunk.length : end
    this.keep(chunk.subarray(start, at))
    if (end >= 0) this.endValue()
    return at
  }

  /** Returns the offset after a text, an array or an object; -1 if it continues after the chunk. */
  private endOfNested(chunk: Buffer, start: number): number {
    // Local variables make the loop several times as fast.
    let { depth, isInText, isEscaped } = this
    let isOver = false
    let at = start
    while (at < chunk.length && !isOver) {
      const byte = chunk[at]
      if (isInText) {
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) {
          isInText = false
          isOver = depth === 0
        }
      } else if (byte === QUOTE) isInText = true
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        depth -= 1
        isOver = depth === 0
      }
      at += 1
    }
    Object.assign(this, { depth, isInText, isEscaped })
    return isOver ? at : -1
  }

  private keep(bytes: Buffer): void {
    if (this.rule === 'pass') this.write(bytes)
    if (this.rule !== 'short') return
    this.shortLength += bytes.length
    if (this.shortLength > Math.min(SHORT_BYTES_MAX, this.shortBytesLeft)) this.short = []
    // The bytes are copied, because the chunk is much longer than they are.
    else this.short.push(Buffer.from(bytes))
  }

  private endValue(): void {
    this.state = 'member'
    const isKept = this.shortLength <= Math.min(SHORT_BYTES_MAX, this.shortBytesLeft)
    if (this.rule !== 'short' || !isKept) return
    this.shortBytesLeft -= this.shortLength + this.key.length + SYNTAX_BYTES
    this.writeName()
    for (const part of this.short) this.write(part)
    this.short = []
  }

  private writeName(): void {
    this.write(this.hasMember.at(-1) === true ? [COMMA, QUOTE] : [QUOTE])
    this.hasMember[this.hasMember.length - 1] = true
    this.write(this.key)
    this.write([QUOTE, COLON])
  }

  private open(name: string): void {
    this.path.push(name)
    this.hasMember.push(false)
    this.write([OPEN_BRACE])
    this.state = 'member'
  }

  private close(): void {
    this.path.pop()
    this.hasMember.pop()
    this.write([CLOSE_BRACE])
    this.state = this.path.length === 0 ? 'over' : 'member'
  }
}

/** The number of bytes of quotes, a colon, a comma and braces beside a name and a value. */
const SYNTAX_BYTES = 6

/** Matches the escapes of those characters that names in rules may have. */
const ESCAPE = /\\(?:u([\da-f]{4})|(["\\/]))/gi

/**
 * Returns the name in a key. An escaped name must not evade the rule of its member. An escape that
 * is invalid, or of a character that no rule has, stays as it is. `JSON.parse` would need ten times
 * as long to throw for each of many invalid escapes.
 */
function nameIn(key: readonly number[]): string {
  const text = Buffer.from(key).toString('latin1')
  if (!key.includes(BACKSLASH)) return text
  return text.replaceAll(ESCAPE, (_escape, code: string | undefined, character: string) =>
    code === undefined ? character : String.fromCharCode(Number.parseInt(code, 16)),
  )
}

/** Returns the offset after a number, a boolean or null; -1 if it reaches the end of the chunk. */
function endOfScalar(chunk: Buffer, start: number): number {
  for (let at = start; at < chunk.length; at += 1) {
    const byte = chunk[at] as number
    if (isSpace(byte) || byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET) return at
  }
  return -1
}

const isSpace = (byte: number): boolean => byte === 32 || byte === 10 || byte === 13 || byte === 9
