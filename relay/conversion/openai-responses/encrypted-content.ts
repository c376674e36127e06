import { textOf } from '#relay/canonical/json-values.ts'
import { OPENAI_SIGNATURE as OWN } from '#relay/canonical/thinking-signature-prefixes.ts'
import type { ThinkingPart } from '../../canonical/canonical-request.ts'
import {
  type CallSignature,
  callSignatureIn,
  unwrapSignature,
  wrapSignature,
} from '../wrap-signature-of-other-provider.ts'

/**
 * The decoded value of an `encrypted_content`: the signature of the item's thinking, encrypted
 * thinking, or the signature of the tool call after the item.
 */
type KeptContent = { readonly signature: string } | { readonly redacted: string } | CallSignature

/** Adds a prefix to encrypted content, so that it is not sent to providers of other formats. */
export const ownContent = (encrypted: string): string => `${OWN}${encrypted}`

/**
 * Returns the encrypted content of a thinking part. Returns null if there is none, or if a provider
 * of another format made it.
 */
export function encryptedForProvider({ signature, redacted }: ThinkingPart): string | null {
  const content = redacted ?? signature ?? ''
  return content.startsWith(OWN) ? content.slice(OWN.length) : null
}

/**
 * Returns the `encrypted_content` that the caller gets for a thinking part. Returns null if the
 * part has no signature and is not encrypted.
 */
export function encryptedForCaller(part: ThinkingPart): string | null {
  const own = encryptedForProvider(part)
  if (own !== null) return own
  const { signature, redacted } = part
  if (redacted !== undefined) return wrapSignature({ redacted })
  return signature === undefined ? null : wrapSignature({ signature })
}

/**
 * Returns an `encrypted_content` that stores the signature of a tool call, because a call has no
 * member for a signature. The caller sends the item with this content back together with the call.
 */
export const encryptedCallSignature = (callId: string, callSignature: string): string =>
  wrapSignature({ callId, callSignature })

/**
 * Reads an `encrypted_content` from a caller. `hasText` is true if its item also has a text.
 * Content that is not wrapped is the signature of this text or, without a text, encrypted thinking.
 */
export function readEncrypted(content: string, hasText: boolean): KeptContent {
  const own = ownContent(content)
  return unwrap(content) ?? (hasText ? { signature: own } : { redacted: own })
}

function unwrap(content: string): KeptContent | null {
  const kept = unwrapSignature(content)
  const ofCall = callSignatureIn(kept)
  if (ofCall !== null) return ofCall
  const signature = textOf(kept?.signature)
  const redacted = textOf(kept?.redacted)
  if (signature !== null) return { signature }
  return redacted === null ? null : { redacted }
}
