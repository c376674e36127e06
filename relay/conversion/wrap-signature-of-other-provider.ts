import { type JsonObject, textOf } from '#relay/canonical/json-values.ts'
import { WRAPPED_SIGNATURE } from '../canonical/thinking-signature-prefixes.ts'
import { parsedSmallObject } from './limit-json-in-texts.ts'

/**
 * The signature of a tool call, and the id of the call. The signature is written outside the call
 * in formats in which a call has no member for it.
 */
export type CallSignature = { readonly callId: string; readonly callSignature: string }

/**
 * Encodes data from the provider, such as a signature, as a text that fits the caller's format. The
 * caller stores the text and sends it back in a later request.
 */
export const wrapSignature = (kept: JsonObject): string =>
  Buffer.from(`provider:${JSON.stringify(kept)}`).toString('base64')

/** Returns the data in a text that `wrapSignature` made. Returns null for any other text. */
export function unwrapSignature(text: string): JsonObject | null {
  if (!text.startsWith(WRAPPED_SIGNATURE)) return null
  return parsedSmallObject(Buffer.from(text, 'base64').toString('utf8').slice('provider:'.length))
}

/** Returns the signature of a tool call in decoded data. Returns null if the data contains none. */
export function callSignatureIn(kept: JsonObject | null): CallSignature | null {
  const callId = textOf(kept?.callId)
  const callSignature = textOf(kept?.callSignature)
  return callId === null || callSignature === null ? null : { callId, callSignature }
}
