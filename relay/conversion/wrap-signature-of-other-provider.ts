import { WRAPPED_SIGNATURE } from '../canonical/thinking-signature-prefixes.ts'
import type { JsonObject } from './canonical-request.ts'
import { parsedObject, textOf } from './json-fields.ts'

/** The signature of a call, kept outside the call in formats whose calls have no signature. */
export type CallSignature = { readonly callId: string; readonly callSignature: string }

/**
 * Wraps the data that a provider of another format made in a text. The caller keeps the text and
 * sends it back.
 */
export const wrapSignature = (kept: JsonObject): string =>
  Buffer.from(`provider:${JSON.stringify(kept)}`).toString('base64')

/** Returns what a text of `wrapSignature` holds, or null for any other text. */
export function unwrapSignature(text: string): JsonObject | null {
  if (!text.startsWith(WRAPPED_SIGNATURE)) return null
  return parsedObject(Buffer.from(text, 'base64').toString('utf8').slice('provider:'.length))
}

/**
 * Returns the signature of a call in an unwrapped text, or null if the text has no such signature.
 */
export function callSignatureIn(kept: JsonObject | null): CallSignature | null {
  const callId = textOf(kept?.callId)
  const callSignature = textOf(kept?.callSignature)
  return callId === null || callSignature === null ? null : { callId, callSignature }
}
