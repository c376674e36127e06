import type { ThinkingPart } from '../canonical-request.ts'

/**
 * The prefix of a signature that Gemini made, in the canonical form of a thinking part. Gemini
 * answers an invalid signature with an error, so a signature of another provider, which has no such
 * prefix, must not be sent to it. Signatures of tool calls and of texts are always Gemini's and
 * have no prefix.
 */
const OWN = 'gemini:'

/**
 * The beginning of the field `thoughtSignature` in which a caller of this format keeps what another
 * provider made. It is the base64 form of `provider:`, because SDKs require base64 in this field.
 */
const WRAPPED = 'cHJvdmlkZXI6'

/**
 * A documented value for a call that has no signature, such as a call by another provider's model.
 * Gemini 3 refuses the first call of a turn without a signature.
 */
export const UNCHECKED_SIGNATURE = 'skip_thought_signature_validator'
const PLACEHOLDERS = new Set([UNCHECKED_SIGNATURE, 'context_engineering_is_the_way_to_go'])

/** Returns the signature of a call or a text, or null if there is none. */
export const readSignature = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' && !PLACEHOLDERS.has(value) ? value : null

/** Adds the signature prefix that keeps the signature from other providers. */
export const ownThinkingSignature = (signature: string): string => `${OWN}${signature}`

/** Returns the signature as Gemini made it, or null if another provider made it. */
export const signatureForGemini = (signature: string): string | null =>
  signature.startsWith(OWN) ? signature.slice(OWN.length) : null

/** Reads a thought with its signature, which may hold another provider's signature. */
export function readThought(text: string, field: unknown): ThinkingPart {
  const signature = readSignature(field)
  if (signature === null) return { kind: 'thinking', text }
  const wrapped = unwrap(signature)
  return wrapped === null
    ? { kind: 'thinking', text, signature: ownThinkingSignature(signature) }
    : { kind: 'thinking', text, ...wrapped }
}

/** Returns the field `thoughtSignature` for a caller, who sends it back with the next request. */
export function signatureForCaller(kept: { signature: string } | { redacted: string }): string {
  const own = 'signature' in kept ? signatureForGemini(kept.signature) : null
  if (own !== null) return own
  return Buffer.from(`provider:${JSON.stringify(kept)}`).toString('base64')
}

function unwrap(field: string): { signature: string } | { redacted: string } | null {
  if (!field.startsWith(WRAPPED)) return null
  try {
    const json = Buffer.from(field, 'base64').toString('utf8').slice('provider:'.length)
    const { signature, redacted } = JSON.parse(json)
    if (typeof signature === 'string') return { signature }
    return typeof redacted === 'string' ? { redacted } : null
  } catch {
    return null
  }
}
