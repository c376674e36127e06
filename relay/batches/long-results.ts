import { createHash } from 'node:crypto'
import { setImmediate as eventLoopTurn } from 'node:timers/promises'
import type { Digest } from '#domain/accounts/events.ts'
import { countOutsideStrings } from '../dialects/scan-json-tokens.ts'
import { JsonMemberFilter, type MemberRule, type RuleOf } from './filter-json-members.ts'

/**
 * A part of a result that is too long to be kept in memory. The parts of a result follow each
 * other. The first one has as many bytes as a result may have in memory.
 */
export type LongPiece = { readonly piece: Buffer; readonly isLast: boolean }

/** A result that is in memory, or a part of one that is too long. */
export type ResultPart = Buffer | LongPiece

/**
 * What is known of a result that is too long to be kept in memory. `outline` is the result as JSON,
 * with only those members that decide its bill, or null if it is malformed.
 */
export type LongResult = { readonly outline: string | null; readonly received: Digest }

/** The maximum number of bytes of an outline. */
const OUTLINE_BYTES_MAX = 256 * 1024
/** The members of an answer that can contain its usage or its error, or that identify it. */
const OUTLINED: ReadonlySet<string> = new Set([
  ...['usage', 'usageMetadata', 'x_groq', 'timings', 'error', 'model', 'modelVersion'],
  ...['id', 'responseId', 'system_fingerprint', 'service_tier', 'provider'],
])
/** The length of the slices in which a piece is read. Other work is done between two slices. */
const SLICE_BYTES = 64 * 1024
/** The number of parts that are read before the event loop may do other work. */
const PARTS_AT_ONCE = 256
const EMPTY = Buffer.alloc(0)

/** A result up to this length is parsed, whatever it contains. */
const PARSED_BYTES = 1024 * 1024
/**
 * The maximum number of opening braces and brackets, colons and commas in a longer result that is
 * parsed. Each takes up to 250 bytes and 1 µs. A result of `PARSED_BYTES` may contain as many.
 */
const VALUE_SIGNS_MAX = 300_000
/** A member has one of `:`, a value in a list one of `,`, and an object or a list `{` or `[`. */
const VALUE_SIGNS = Buffer.from(':,{[')

/** Thrown if a result that is passed on turns out to be malformed. */
export class MalformedResult extends Error {}

/**
 * Yields a piece in slices, and lets the event loop do other work after each of them. The first
 * piece of a result is so long that reading it would otherwise block the event loop for seconds.
 */
async function* slicesOf(piece: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < piece.length; at += SLICE_BYTES) {
    yield piece.subarray(at, at + SLICE_BYTES)
    await eventLoopTurn()
  }
}

/**
 * Yields the parts of results. A result with too many values is handled like one that is too long,
 * because parsing it needs much memory: a parsed `{}` needs more than twenty times its length. Many
 * short names need almost as much memory. They also take seconds, because each name is looked up in
 * the table of all names.
 *
 * The event loop does other work after some parts. One piece of a download may contain thousands of
 * short results, and finding out that one of them is not JSON takes 5 µs.
 */
async function* parsableParts(parts: AsyncIterable<ResultPart>): AsyncGenerator<ResultPart> {
  let count = 0
  for await (const part of parts) {
    yield Buffer.isBuffer(part) && hasTooManyValues(part) ? { piece: part, isLast: true } : part
    count += 1
    if (count % PARTS_AT_ONCE === 0) await eventLoopTurn()
  }
}

const hasTooManyValues = (result: Buffer): boolean =>
  result.length > PARSED_BYTES &&
  countOutsideStrings(result, VALUE_SIGNS, VALUE_SIGNS_MAX) > VALUE_SIGNS_MAX

/** Reads a result while it arrives. Only its outline is kept. */
class LongResultReader {
  private readonly sha256 = createHash('sha256')
  private readonly filter: JsonMemberFilter
  private readonly parts: Buffer[] = []
  private bytes = 0

  constructor(answerPath: string) {
    const ruleOf: RuleOf = (path) => {
      if (leadsTo(answerPath, path)) return 'enter'
      if (!path.startsWith(`${answerPath}/`)) return 'short'
      return OUTLINED.has(path.slice(answerPath.length + 1)) ? 'short' : 'drop'
    }
    this.filter = new JsonMemberFilter(ruleOf, OUTLINE_BYTES_MAX)
  }

  async push(piece: Buffer): Promise<void> {
    this.bytes += piece.length
    for await (const slice of slicesOf(piece)) {
      this.sha256.update(slice)
      const part = this.filter.push(slice)
      // The part is copied, because it may be in a much longer buffer.
      if (part.length > 0) this.parts.push(Buffer.from(part))
    }
  }

  /** The outline of what was read so far. */
  get outline(): string {
    return Buffer.concat(this.parts).toString('utf8') + this.filter.closing
  }

  get result(): LongResult {
    const received = { bytes: this.bytes, sha256: this.sha256.digest('hex') }
    return { outline: this.filter.isOver ? this.outline : null, received }
  }
}

/** Reports whether `path` is the path of the answer or of an object around it. */
const leadsTo = (answerPath: string, path: string): boolean =>
  answerPath === path || answerPath.startsWith(`${path}/`)

/**
 * Yields each result, and the outline in place of a result that is too long. `answerPath` is the
 * path of the model's answer in a result.
 */
export async function* outlinedResults(
  parts: AsyncIterable<ResultPart>,
  answerPath: string,
): AsyncGenerator<Buffer | LongResult> {
  let reader: LongResultReader | null = null
  for await (const part of parsableParts(parts)) {
    if (Buffer.isBuffer(part)) {
      yield part
      continue
    }
    reader ??= new LongResultReader(answerPath)
    await reader.push(part.piece)
    if (!part.isLast) continue
    yield reader.result
    reader = null
  }
}

/** How the results of a batch are shown to the caller. */
export type ResultRendering = {
  readonly answerPath: string
  /** Returns a result as the caller receives it, or null if the caller must not see it. */
  readonly render: (result: string) => string | null | Promise<string | null>
  /**
   * Returns the rules by which a long result is passed on while it arrives. `outline` contains the
   * members at the beginning of the result. Returns null if these members do not show that the
   * caller may see the answer.
   */
  readonly rulesOfLong: (outline: string) => RuleOf | null
  /**
   * Called for a long result that has such rules. Resolves to the text that the caller receives in
   * place of the result, or to null if the result may be passed on. `beginning` is the first piece
   * of the result. Omitted if no result is withheld.
   */
  readonly renderWithheld?: (outline: string, beginning: Buffer) => Promise<string | null>
  /**
   * Returns the text that the caller receives in place of a long result without such rules, or null
   * if the caller receives nothing. `outline` does not contain the answer.
   */
  readonly renderUnshown: (outline: string) => string | null
}

/** A part of a result as the caller receives it. The last part of a long result is empty. */
export type ShownPart = { readonly data: Buffer | string; readonly isLast: boolean }

/**
 * Yields the results as the caller receives them. A long result is passed on as it arrives. Throws
 * `MalformedResult` at the end of a long result that is no whole JSON object. The provider may send
 * other bytes than those that were billed, and the caller must see that the result is incomplete.
 */
export async function* renderedResults(
  parts: AsyncIterable<ResultPart>,
  { answerPath, render, rulesOfLong, renderWithheld, renderUnshown }: ResultRendering,
): AsyncGenerator<ShownPart> {
  let reader: LongResultReader | null = null
  let shown: JsonMemberFilter | null = null
  let withheld: string | null = null
  for await (const part of parsableParts(parts)) {
    if (Buffer.isBuffer(part)) {
      const data = await render(part.toString('utf8'))
      if (data !== null) yield { data, isLast: true }
      continue
    }
    const { piece, isLast } = part
    const isFirst: boolean = reader === null
    reader ??= new LongResultReader(answerPath)
    if (shown === null) await reader.push(piece)
    const rules = isFirst ? rulesOfLong(reader.outline) : null
    if (rules !== null) withheld = (await renderWithheld?.(reader.outline, piece)) ?? null
    if (rules !== null && withheld === null)
      shown = new JsonMemberFilter(rules, Number.POSITIVE_INFINITY)
    for await (const slice of shown === null ? [] : slicesOf(piece)) {
      yield { data: (shown as JsonMemberFilter).push(slice), isLast: false }
    }
    if (!isLast) continue
    if (shown?.isOver === false) throw new MalformedResult('a long result of a batch is malformed')
    const data = shown === null ? (withheld ?? renderUnshown(reader.outline)) : EMPTY
    if (data !== null) yield { data, isLast: true }
    reader = null
    shown = null
    withheld = null
  }
}

/**
 * Returns the rules by which a result is passed on to the caller: the answer is passed on as it is,
 * and `rules` decide about other members and about members of the answer. All others are dropped.
 */
export const rulesOfShown =
  (answerPath: string, rules: ReadonlyMap<string, MemberRule>): RuleOf =>
  (path) => {
    const isInAnswer = path.startsWith(`${answerPath}/`)
    return rules.get(path) ?? (leadsTo(answerPath, path) ? 'enter' : isInAnswer ? 'pass' : 'drop')
  }

/** Returns the rule that replaces a value by this value. */
export const replacedBy = (value: unknown): MemberRule => ({ text: JSON.stringify(value) })
