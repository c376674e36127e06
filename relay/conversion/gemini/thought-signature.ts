import { isObject, type JsonObject } from '#relay/canonical/json-values.ts'
import {
  GEMINI_SIGNATURE as OWN,
  UNCHECKED_SIGNATURE,
  WRAPPED_SIGNATURE,
} from '#relay/canonical/thinking-signature-prefixes.ts'
import type { ThinkingPart } from '../../canonical/canonical-request.ts'
import { unwrapSignature, wrapSignature } from '../wrap-signature-of-other-provider.ts'

const PLACEHOLDERS = new Set([UNCHECKED_SIGNATURE, 'context_engineering_is_the_way_to_go'])

/**
 * Returns the signature that Gemini gave a part. Returns null if there is no signature, or if it is
 * a placeholder or wraps another provider's signature.
 */
export const readSignature = (value: unknown): string | null =>
  typeof value === 'string' &&
  value !== '' &&
  !PLACEHOLDERS.has(value) &&
  !value.startsWith(WRAPPED_SIGNATURE)
    ? value
    : null

/**
 * Adds a prefix to Gemini's signature of a thought. Because of the prefix, the signature is not
 * sent to other providers. Signatures of tool calls and of texts are always Gemini's and have no
 * prefix.
 */
const ownThinkingSignature = (signature: string): string => `${OWN}${signature}`

/**
 * Returns a thought's signature as Gemini made it. Returns null if another provider made the
 * signature.
 */
export const signatureForGemini = (signature: string): string | null =>
  signature.startsWith(OWN) ? signature.slice(OWN.length) : null

/**
 * Reads a thought. `field` is its `thoughtSignature`, which may contain a signature of another
 * provider or thinking that another provider encrypted.
 */
export function readThought(text: string, field: unknown): ThinkingPart {
  const signature = readSignature(field)
  if (signature !== null) {
    return { kind: 'thinking', text, signature: ownThinkingSignature(signature) }
  }
  return { kind: 'thinking', text, ...signatureIn(unwrap(field)) }
}

/**
 * Returns the `thoughtSignature` of a thought. The caller sends this field back with the next
 * request.
 */
export function signatureForCaller(kept: { signature: string } | { redacted: string }): string {
  const own = 'signature' in kept ? signatureForGemini(kept.signature) : null
  return own ?? wrapSignature(kept)
}

/**
 * Returns a `thoughtSignature` for a tool call. The signature contains the thoughts before the call
 * that a provider other than Gemini has signed or encrypted. Gemini CLI sends back the signatures
 * of calls, but no thoughts. Claude refuses the result of a call if the thoughts before the call
 * are missing. Returns undefined if there are no such thoughts.
 */
export function thoughtsForCaller(thoughts: readonly ThinkingPart[]): string | undefined {
  const needed = thoughts.filter(
    ({ signature, redacted }) =>
      redacted !== undefined || (signature !== undefined && signatureForGemini(signature) === null),
  )
  return needed.length === 0 ? undefined : wrapSignature({ thoughts: needed })
}

/** Reads the thoughts that are stored in the signature of a tool call. */
export function readThoughtsOfCall(field: unknown): readonly ThinkingPart[] {
  const thoughts = unwrap(field)?.thoughts
  if (!Array.isArray(thoughts)) return []
  return thoughts.filter(isObject).map((thought) => ({
    kind: 'thinking',
    text: typeof thought.text === 'string' ? thought.text : '',
    ...signatureIn(thought),
  }))
}

const unwrap = (field: unknown): JsonObject | null =>
  typeof field === 'string' ? unwrapSignature(field) : null

function signatureIn(kept: JsonObject | null): { signature?: string; redacted?: string } {
  if (typeof kept?.redacted === 'string') return { redacted: kept.redacted }
  return typeof kept?.signature === 'string' ? { signature: kept.signature } : {}
}
