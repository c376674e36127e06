import { TOKENS_MAX } from '#relay/canonical/provider-usage-report.ts'
import type { InputBound } from '../openai-chat/input-token-bound.ts'
import { closingBrace, closingQuote, isDigit } from '../scan-json-tokens.ts'
import type { Member } from '../scan-request-object.ts'

/**
 * The inputs of a request. Inputs that consist of token numbers are never mixed with other inputs.
 */
export type Inputs = {
  readonly count: number
  /** The number of tokens if all inputs consist of token numbers. Null for all other inputs. */
  readonly tokens: number | null
  /** The number of inputs that are objects, such as pictures. */
  readonly objects: number
}

const QUOTE = 34
const COMMA = 44
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
const OPEN_BRACE = 123

/**
 * Counts the inputs in a member. The member's value is one text, a list of texts and objects, a
 * list of token numbers, or a list of such lists. Returns null for any other value. The value must
 * be valid JSON.
 */
export function countInputs(body: Buffer, member: Member): Inputs | null {
  if (member.kind === 'string') return { count: 1, tokens: null, objects: 0 }
  if (member.kind !== 'array' || member.length === 0) return null
  const counts = countElements(body, member)
  if (counts === null) return null
  const { texts, objects, lists, numbers, tokens } = counts
  const count = texts + objects + lists
  if (numbers > 0) return count === 0 ? { count: 1, tokens: numbers, objects: 0 } : null
  if (lists === 0) return { count, tokens: null, objects }
  return lists === count ? { count, tokens, objects: 0 } : null
}

type Elements = { texts: number; objects: number; lists: number; numbers: number; tokens: number }

/**
 * Counts the elements of a list by kind. `tokens` is the number of token numbers in all inner
 * lists.
 */
function countElements(body: Buffer, { valueStart, valueEnd }: Member): Elements | null {
  const counts: Elements = { texts: 0, objects: 0, lists: 0, numbers: 0, tokens: 0 }
  let isInList = false
  for (let at = valueStart + 1; at < valueEnd - 1; at += 1) {
    const byte = body[at] ?? 0
    if (byte <= 32 || byte === COMMA) continue
    if (byte === OPEN_BRACKET && !isInList) {
      isInList = true
      counts.lists += 1
    } else if (byte === CLOSE_BRACKET) isInList = false
    else if (byte === QUOTE && !isInList) {
      counts.texts += 1
      at = closingQuote(body, at)
    } else if (byte === OPEN_BRACE && !isInList) {
      counts.objects += 1
      at = closingBrace(body, at)
    } else if (isDigit(byte)) {
      at = endOfDigits(body, at)
      if (isInList) counts.tokens += 1
      else counts.numbers += 1
    } else return null
    if (byte !== OPEN_BRACKET && startsFractionOrExponent(body[at + 1])) return null
  }
  return counts
}

/**
 * Reports whether the byte after a number's integer digits begins a fraction (`.`) or an exponent
 * (`e` or `E`).
 */
const startsFractionOrExponent = (byte: number | undefined): boolean =>
  byte === 46 || byte === 69 || byte === 101

function endOfDigits(body: Buffer, start: number): number {
  let at = start
  while (isDigit(body[at + 1])) at += 1
  return at
}

/**
 * The likely maximum number of tokens of a picture or another medium, and (in `OBJECT_CEILING`) the
 * absolute maximum.
 */
const OBJECT_TOKENS = 6_000
const OBJECT_CEILING = 50_000
/**
 * The number of tokens that a model adds to each input, for marks at its start and end and for a
 * short instruction.
 */
const TOKENS_PER_INPUT = 64
const CEILING_BASE = 256

/**
 * Returns the bounds of the input tokens. Text has at most one token per byte of the request. If
 * the inputs are token numbers, each number is one token, and the ceiling also allows for providers
 * that count up to twice as many. The ceiling has a smaller margin than that of a chat, because a
 * provider adds fewer tokens to an input than to a chat.
 */
export function boundOfInputs(body: Buffer, { count, tokens, objects }: Inputs): InputBound {
  const ofInputs = count * TOKENS_PER_INPUT + CEILING_BASE
  if (tokens !== null) {
    return {
      tokens: Math.max(1, tokens),
      ceiling: limitToTokensMax(tokens * 2 + ofInputs),
      isText: false,
    }
  }
  const likely = body.length + objects * OBJECT_TOKENS
  const ceiling = limitToTokensMax(body.length + objects * OBJECT_CEILING + ofInputs)
  return { tokens: limitToTokensMax(likely), ceiling, isText: objects === 0 }
}

/** Limits a token count to the largest count that is billed. */
export const limitToTokensMax = (tokens: number): number => Math.min(TOKENS_MAX, tokens)
