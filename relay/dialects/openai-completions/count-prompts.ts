import { type RelayError, relayError } from '#relay/canonical/relay-error.ts'
import type { Member } from '../scan-request-object.ts'

export type Prompts = {
  readonly count: number
  /** False if a prompt consists of token numbers, which the gateway can't count as text. */
  readonly isText: boolean
}

const QUOTE = 34
const BACKSLASH = 92
const COMMA = 44
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93

const isDigit = (byte: number): boolean => byte >= 48 && byte <= 57

/**
 * Counts the prompts of a request. The value is one text, a list of texts, the token numbers of one
 * prompt, or a list of such lists. Mixed lists are refused, because the number of prompts would be
 * unclear.
 */
export function countPrompts(body: Buffer, member: Member | undefined): Prompts | RelayError {
  if (member === undefined || member.kind === 'null') {
    return relayError('missing_parameter', { param: 'prompt' })
  }
  if (member.kind === 'string') return { count: 1, isText: true }
  const kind = member.kind === 'array' ? kindOfElements(body, member) : null
  const count = kind === 'tokens' ? 1 : member.length
  if (kind === null) {
    return relayError('invalid_parameter', { param: 'prompt' })
  }
  return { count, isText: kind === 'texts' }
}

/**
 * Returns the kind of the elements of a list. Returns null if the list is empty, mixed or has other
 * values. The scanner has already checked that the list is valid JSON.
 */
function kindOfElements(
  body: Buffer,
  { valueStart, valueEnd, length }: Member,
): 'texts' | 'tokens' | 'lists' | null {
  if (length === 0) return null
  let texts = 0
  let lists = 0
  let hasTokens = false
  let depth = 0
  for (let at = valueStart; at < valueEnd; at += 1) {
    const byte = body[at] ?? 0
    if (byte <= 32 || byte === COMMA) continue
    if (byte === OPEN_BRACKET) {
      depth += 1
      if (depth > 2) return null
      if (depth === 2) lists += 1
    } else if (byte === CLOSE_BRACKET) depth -= 1
    else if (byte === QUOTE) {
      if (depth !== 1) return null
      texts += 1
      at = endOfText(body, at)
    } else if (!isDigit(byte)) return null
    else if (depth === 1) hasTokens = true
  }
  if (texts === length) return 'texts'
  if (lists === length) return 'lists'
  return hasTokens && texts === 0 && lists === 0 ? 'tokens' : null
}

/** Returns the offset of the closing quote of the string at `start`. */
function endOfText(body: Buffer, start: number): number {
  let at = body.indexOf(QUOTE, start + 1)
  for (;;) {
    let backslashes = 0
    while (body[at - 1 - backslashes] === BACKSLASH) backslashes += 1
    if (at < 0 || backslashes % 2 === 0) return at < 0 ? body.length : at
    at = body.indexOf(QUOTE, at + 1)
  }
}
