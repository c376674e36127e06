import { beginsLikeAnswer } from '#relay/canonical/begins-like-answer.ts'

/**
 * The maximum number of bytes that are read of one answer. The gateway does not wait for the rest
 * of a longer answer.
 */
const READ_BYTES_MAX = 256 * 1024 * 1024
/**
 * If an answer is too large, at least this many bytes of its end are kept, because the usage is one
 * of the last members.
 */
const KEPT_BYTES = 64 * 1024
/** The number of bytes at the beginning of a body that show whether it is an error. */
const START_BYTES = 1_024

const QUOTE = 34
const COMMA = 44
const BACKSLASH = 92
const OPENING: ReadonlySet<number | undefined> = new Set([91, 123])
const CLOSING: ReadonlySet<number | undefined> = new Set([93, 125])

/** Buffers the body of an error or of an answer that is not a stream. */
export class AnswerBuffer {
  /** The number of bytes that were added. */
  length = 0
  /** True for an answer that is too large to be sent to the caller. Only its end is kept. */
  isTooLarge = false
  /**
   * True if a body that is too large begins like a JSON object that is not an error. No other body
   * is read on when it is too large.
   */
  isLargeAnswer = false
  private parts: Buffer[] = []
  private keptBytes = 0

  /**
   * Adds bytes and returns true. If the body becomes longer than `bytesMax`, returns false without
   * keeping these bytes.
   */
  add(part: Buffer, bytesMax: number): boolean {
    const isFirstBeyond = this.length <= bytesMax
    this.length += part.length
    if (this.length > bytesMax) {
      if (isFirstBeyond) this.isLargeAnswer = beginsLikeAnswer(startOf([...this.parts, part]))
      return false
    }
    this.keep(part)
    return true
  }

  /** Adds bytes of an answer that is too large. Returns false once no more bytes should be read. */
  addToTail(part: Buffer): boolean {
    this.isTooLarge = true
    this.keep(part)
    for (let first = this.parts[0]; first !== undefined; first = this.parts[0]) {
      if (this.keptBytes - first.length < KEPT_BYTES) break
      this.keptBytes -= first.length
      this.parts.shift()
    }
    return this.length <= READ_BYTES_MAX
  }

  /** Returns the body, or an empty buffer for an answer that is too large. */
  body(): Buffer {
    const [first] = this.parts
    if (first === undefined || this.isTooLarge) return Buffer.alloc(0)
    return this.parts.length === 1 ? first : Buffer.concat(this.parts)
  }

  /**
   * Returns a JSON object with the last members of an answer that is too large. The object may be
   * empty.
   */
  lastMembers(): Buffer {
    const kept = Buffer.concat(this.parts)
    return lastMembersOf(kept.subarray(Math.max(0, kept.length - KEPT_BYTES)))
  }

  replace(body: Buffer): void {
    this.parts = [body]
  }

  clear(): void {
    this.parts = []
  }

  private keep(part: Buffer): void {
    this.parts.push(part)
    this.keptBytes += part.length
  }
}

/** Returns the first bytes of a body. No part of a body is empty. */
const startOf = (parts: readonly Buffer[]): string => {
  const first = parts.slice(0, START_BYTES).map((part) => part.subarray(0, START_BYTES))
  return Buffer.concat(first).toString('utf8', 0, START_BYTES)
}

/**
 * Returns the last members of the JSON object at the end of `bytes`, as a separate object. The
 * bytes are read backwards, because they may begin within a string. Members of nested objects are
 * ignored, and so are texts in strings that look like members.
 */
export function lastMembersOf(bytes: Buffer): Buffer {
  let depth = 0
  let isInText = false
  let start = -1
  let end = -1
  for (let at = bytes.length - 1; at >= 0; at -= 1) {
    const byte = bytes[at]
    if (byte === QUOTE && !isEscaped(bytes, at)) isInText = !isInText
    if (isInText) continue
    if (CLOSING.has(byte)) {
      if (end < 0) end = at
      depth += 1
    } else if (OPENING.has(byte)) {
      depth -= 1
      if (depth <= 0) break
    } else if (byte === COMMA && depth === 1) start = at
  }
  return Buffer.from(start < 0 ? '{}' : `{${bytes.toString('utf8', start + 1, end)}}`)
}

/** Reports whether an odd number of backslashes precedes the byte. */
function isEscaped(bytes: Buffer, at: number): boolean {
  let first = at
  while (bytes[first - 1] === BACKSLASH) first -= 1
  return (at - first) % 2 === 1
}
