import { type JsonObject, objectsOf, textOf } from '#relay/canonical/json-values.ts'
import { DETAIL_AS_JSON } from '#relay/canonical/thinking-signature-prefixes.ts'
import type { ThinkingPart } from '../../canonical/canonical-request.ts'
import { parsedSmallObject } from '../limit-json-in-texts.ts'

/** OpenRouter's name for thinking in Anthropic's form, which is a text and a signature. */
export const ANTHROPIC_FORMAT = 'anthropic-claude-v1'
const BARE_FORMATS: ReadonlySet<unknown> = new Set([undefined, null, 'unknown', ANTHROPIC_FORMAT])
const ENCRYPTED = 'reasoning.encrypted'
const TEXT = 'reasoning.text'

/** Returns the texts in Mistral's `thinking`, which is a string or a list of text parts. */
export function textsOfThinking(thinking: unknown): string {
  if (typeof thinking === 'string') return thinking
  return objectsOf(thinking)
    .map(({ text }) => textOf(text) ?? '')
    .join('')
}

/**
 * Reads the thinking in an assistant's message. OpenRouter sends `reasoning_details`, a list with
 * signatures. DeepSeek and most other providers send `reasoning_content`. The rest send
 * `reasoning`.
 */
export function readThinkingParts(message: JsonObject): readonly ThinkingPart[] {
  const details = objectsOf(message.reasoning_details).flatMap((detail) => readDetail(detail) ?? [])
  if (details.some(({ text }) => text !== '')) return details
  const text = textOf(message.reasoning_content) || textOf(message.reasoning) || ''
  return text === '' ? details : [{ kind: 'thinking', text }, ...details]
}

/** Reads one element of `reasoning_details`. Returns null for an element without content. */
export function readDetail(detail: JsonObject): ThinkingPart | null {
  if (detail.type === ENCRYPTED) {
    const data = textOf(detail.data) ?? ''
    return data === '' ? null : { kind: 'thinking', text: '', redacted: redactedOf(detail, data) }
  }
  const text = textOfDetail(detail)
  const signature = signatureOf(detail)
  if (signature !== null) return { kind: 'thinking', text, signature }
  return text === '' ? null : { kind: 'thinking', text }
}

export const textOfDetail = ({ text, summary }: JsonObject): string =>
  textOf(text) ?? textOf(summary) ?? ''

/**
 * Returns the signature of an element of `reasoning_details`, or null if the element has none. For
 * a text in Anthropic's form or without a known form, this is the member `signature`, unchanged. In
 * any other form, the result is the JSON text of the members except the text, because the provider
 * needs these members back.
 */
export function signatureOf(detail: JsonObject): string | null {
  const { type, format } = detail
  const signature = textOf(detail.signature) || null
  if (type === TEXT && BARE_FORMATS.has(format)) return signature
  const kept = keptMembers(detail)
  const isPlain = kept.format === undefined && kept.id === undefined && signature === null
  return isPlain ? null : JSON.stringify(kept)
}

function redactedOf(detail: JsonObject, data: string): string {
  return BARE_FORMATS.has(detail.format) ? data : JSON.stringify(keptMembers(detail))
}

function keptMembers(detail: JsonObject): JsonObject {
  const { type, id, format, signature, data } = detail
  const members = { type, id, format, signature, data }
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => typeof value === 'string' && value !== ''),
  )
}

/**
 * Writes a thinking part as an element of `reasoning_details`. `format` names the form of an
 * unchanged signature, as OpenRouter requires. `format` is omitted in elements for callers, because
 * callers only send the element back.
 */
export function writeDetail(part: ThinkingPart, index: number, format?: string): JsonObject {
  const { text, signature, redacted } = part
  const kept = parsedDetail(redacted ?? signature)
  if (kept !== null) return { ...kept, ...textMember(kept.type, text), index }
  const form = format === undefined ? {} : { format }
  if (redacted !== undefined) return { type: ENCRYPTED, data: redacted, ...form, index }
  if (signature === undefined) return { type: TEXT, text, index }
  return { type: TEXT, text, signature, ...form, index }
}

function textMember(type: unknown, text: string): JsonObject {
  if (type === ENCRYPTED) return {}
  return type === 'reasoning.summary' ? { summary: text } : { text }
}

/**
 * Returns the members of an element that `signatureOf` or `redactedOf` stored as JSON. Returns null
 * for any other text.
 */
function parsedDetail(text: string | undefined): JsonObject | null {
  if (text === undefined || !text.startsWith(DETAIL_AS_JSON)) return null
  const detail = parsedSmallObject(text)
  return detail === null ? null : keptMembers(detail)
}
