import { isObject, type JsonObject } from '#relay/canonical/json-values.ts'
import {
  GEMINI_SIGNATURE as OWN,
  UNCHECKED_SIGNATURE,
  WRAPPED_SIGNATURE,
} from '#relay/canonical/thinking-signature-prefixes.ts'
import type { ThinkingPart } from '../../canonical/canonical-request.ts'
import { unwrapSignature, wrapSignature } from '../wrap-signature-of-other-provider.ts'

const PLACEHOLDERS = new Set([UNCHECKED_SIGNATURE, 'context_engineering_is_the_way_to_go'])

/** Returns the signature that Gemini gave a part. Returns null if there is none. */
export const readSignature = (value: unknown): string | null =>
  typeof value === 'string' &&
  value !== '' &&
  !PLACEHOLDERS.has(value) &&
  !value.startsWith(WRAPPED_SIGNATURE)
    ? value
    : null

/**
 * Returns the signature with a prefix, so that it is not sent to other providers. Signatures of
 * tool calls and of texts are always Gemini's and have no prefix.
 */
const ownThinkingSignature = (signature: string): string => `${OWN}${signature}`

/** Returns the signature as Gemini made it. Returns null if another provider made it. */
export const signatureForGemini = (signature: string): string | null =>
  signature.startsWith(OWN) ? signature.slice(OWN.length) : null

/** Reads a thought. Its signature field may contain another provider's signature. */
export function readThought(text: string, field: unknown): ThinkingPart {
  const signature = readSignature(field)
  if (signature !== null) {
    return { kind: 'thinking', text, signature: ownThinkingSignature(signature) }
  }
  return { kind: 'thinking', text, ...signatureIn(unwrap(field)) }
}

/** Returns the field `thoughtSignature` for the caller, who sends it back with the next request. */
export function signatureForCaller(kept: { signature: string } | { redacted: string }): string {
  const own = 'signature' in kept ? signatureForGemini(kept.signature) : null
  return own ?? wrapSignature(kept)
}

/**
 * Returns the `thoughtSignature` of a tool call, in which the thoughts before the call are stored.
 * Gemini CLI sends back the signatures of calls, but no thoughts, and Claude refuses the results of
 * a call without the thoughts before the call. Returns undefined if no provider except Gemini needs
 * the thoughts.
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
