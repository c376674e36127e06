import { HOUR_CACHE } from '#domain/channels/restricted-request-members.ts'
import { endOfPlainText, type Words, wordsOf } from './scan-json-tokens.ts'
import type { ChatRequest } from './wire-format.ts'

/**
 * A cache mark with a lifetime of hours: the position of the lifetime in the body, and a shorter
 * lifetime that can replace it.
 */
type CacheMark = { readonly start: number; readonly end: number; readonly shorter: string }

/**
 * The members whose value has a lifetime in `ttl`, each with the lifetime that costs the least. The
 * last two members are OpenAI's.
 */
const SHORTER: ReadonlyMap<string, string> = new Map([
  ['cache_control', '"5m"'],
  ['prompt_cache_breakpoint', '"30m"'],
  ['prompt_cache_options', '"30m"'],
])
const LIFETIME = 'ttl'
/**
 * The members with data of the caller's own tools. They are not searched, because the data may have
 * members of any name. A top-level `input` is searched, because it is the conversation.
 */
const OF_TOOL: ReadonlySet<string> = new Set([
  ...['input', 'input_schema', 'input_examples', 'parameters', 'arguments'],
])
const NAMES: ReadonlySet<string> = new Set([LIFETIME, ...SHORTER.keys(), ...OF_TOOL])
const LENGTHS: ReadonlySet<number> = new Set([...NAMES].map(({ length }) => length))

/** Matches a lifetime of some hours with its quotes, even if its characters are escaped. */
const HOURS = /"(?:\d|\\u003\d){1,3}(?:h|\\u00[46]8)"/i
const ONLY_HOURS = new RegExp(`^${HOURS.source}$`, 'i')
/** Every match of `HOURS` contains at least one of these texts, which are faster to search for. */
const HOURS_TEXTS = ['h"', 'H"', '8"']

const NO_MARKS: readonly CacheMark[] = []
/** The marks of a body, and the copy of the body with shorter lifetimes if one was made. */
type SearchResult = { readonly marks: readonly CacheMark[]; shortened?: Buffer }
const NOTHING_FOUND: SearchResult = Object.freeze({ marks: NO_MARKS })
const CACHED_FROM_BYTES = 16_384
/**
 * The results of earlier searches, by the body that was searched. They are kept because every
 * attempt of a call needs the result. The result for a short body without marks is not kept,
 * because a new search costs less than an entry in this map.
 */
const RESULTS = new WeakMap<Buffer, SearchResult>()

function searchMarks(body: Buffer): SearchResult {
  const earlier = RESULTS.get(body)
  if (earlier !== undefined) return earlier
  const mayHaveMarks =
    HOURS_TEXTS.some((text) => body.includes(text)) && HOURS.test(body.toString('latin1'))
  if (!mayHaveMarks && body.length < CACHED_FROM_BYTES) return NOTHING_FOUND
  const result: SearchResult = { marks: mayHaveMarks ? new MarkFinder(body).find() : NO_MARKS }
  RESULTS.set(body, result)
  return result
}

/**
 * Reports whether a request writes to a cache of the provider that lasts for an hour or longer.
 * Such a cache costs more than a shorter one. The search of a body without such a lifetime takes
 * about a millisecond per megabyte.
 */
export const requestsHourCache = (body: Buffer): boolean => searchMarks(body).marks.length > 0

/**
 * Returns the request with the cheapest lifetime in place of each lifetime of hours in its cache
 * marks, or the same request if the channel allows lifetimes of hours (`HOUR_CACHE` in `allowed`)
 * or there are none. If the cheapest lifetime has too many characters, null takes its place and
 * requests the default. The length of the body and all offsets in it stay the same.
 */
export function withAllowedCache(
  request: ChatRequest,
  allowed: ReadonlySet<string>,
): { readonly request: ChatRequest; readonly dropped: readonly string[] } {
  if (allowed.has(HOUR_CACHE)) return { request, dropped: [] }
  const result = searchMarks(request.body)
  if (result.marks.length === 0) return { request, dropped: [] }
  result.shortened ??= shortened(request.body, result.marks)
  return { request: { ...request, body: result.shortened }, dropped: [HOUR_CACHE] }
}

/**
 * Returns the copy of `body` in which the cache lifetimes (`ttl`) are shortened, or undefined if no
 * such copy is in memory. The copy stays in memory as long as the body, unless
 * `forgetShortenedBody` is called.
 */
export const shortenedBodyOf = (body: Buffer): Buffer | undefined => RESULTS.get(body)?.shortened

/** Releases the copy with shorter lifetimes. Called when too little memory is left. */
export function forgetShortenedBody(body: Buffer): void {
  const result = RESULTS.get(body)
  if (result !== undefined) delete result.shortened
}

function shortened(body: Buffer, marks: readonly CacheMark[]): Buffer {
  const copy = Buffer.from(body)
  for (const { start, end, shorter } of marks) {
    const length = end - start
    // The value null requests the default lifetime.
    const text = shorter.length > length ? 'null' : shorter
    copy.write(text.padEnd(length), start, 'latin1')
  }
  return copy
}

const QUOTE = 34
const COMMA = 44
const BACKSLASH = 92
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

/**
 * An open object or array. `name` is the name of the member whose value is this object or array. It
 * is null if there is no such member or if its name is not one of `NAMES`.
 */
type Level = {
  readonly isObject: boolean
  readonly name: string | null
  readonly isOfTool: boolean
}

/** Finds the marks in the text of a valid JSON object in one pass, without parsing the text. */
class MarkFinder {
  private readonly body: Buffer
  private readonly words: Words
  private readonly levels: Level[] = []
  private readonly marks: CacheMark[] = []
  /** The latest name in the innermost object, if it is one of `NAMES`. */
  private name: string | null = null
  /** True if the next string is the name of a member. */
  private isNameNext = false
  /** True if the latest string has an escaped character. */
  private isEscaped = false

  constructor(body: Buffer) {
    this.body = body
    this.words = wordsOf(body)
  }

  find(): readonly CacheMark[] {
    const { body } = this
    for (let at = 0; at < body.length; at += 1) {
      const byte = body[at]
      if (byte === QUOTE) at = this.text(at)
      else if (byte === COMMA) this.isNameNext = this.levels.at(-1)?.isObject === true
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.open(byte === OPEN_BRACE)
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.levels.pop()
    }
    return this.marks
  }

  private open(isObject: boolean): void {
    const outer = this.levels.at(-1)
    const name = outer?.isObject === true ? this.name : null
    // At the top level, `input` is the conversation itself.
    const isText = this.levels.length > 1 && name !== null && OF_TOOL.has(name)
    this.levels.push({ isObject, name, isOfTool: isText || outer?.isOfTool === true })
    this.isNameNext = isObject
    this.name = null
  }

  /** Reads the string at `start`. Returns the offset of its closing quote. */
  private text(start: number): number {
    const end = this.endOfText(start)
    if (this.isNameNext) {
      this.isNameNext = false
      this.name = this.nameAt(start, end)
    } else if (this.name === LIFETIME) this.lifetime(start, end + 1)
    return end
  }

  private lifetime(start: number, end: number): void {
    const { isObject = false, name = null, isOfTool } = this.levels.at(-1) ?? {}
    const shorter = isObject && name !== null ? SHORTER.get(name) : undefined
    if (shorter === undefined || isOfTool === true) return
    if (ONLY_HOURS.test(this.body.toString('latin1', start, end))) {
      this.marks.push({ start, end, shorter })
    }
  }

  /**
   * Returns the name in lower case, because some providers ignore letter case. Returns null if the
   * lower-case name is not one of `NAMES`.
   */
  private nameAt(start: number, end: number): string | null {
    const length = end - start - 1
    const { isEscaped } = this
    if (!isEscaped && !LENGTHS.has(length)) return null
    const text = this.body.toString('utf8', start, end + 1)
    const name = String(isEscaped ? JSON.parse(text) : text.slice(1, -1)).toLowerCase()
    return NAMES.has(name) ? name : null
  }

  private endOfText(start: number): number {
    const { body, words } = this
    this.isEscaped = false
    let at = start + 1
    for (;;) {
      at = endOfPlainText(words, at)
      const byte = body[at]
      if (byte === QUOTE || byte === undefined) return at
      if (byte === BACKSLASH) this.isEscaped = true
      at += byte === BACKSLASH ? 2 : 1
    }
  }
}
