import { OPENAI_SIGNATURE as OWN, WRAPPED_SIGNATURE } from '#relay/canonical/thinking-signatures.ts'
import type { ThinkingPart } from '../canonical-request.ts'
import { parsedObject, textOf } from '../json-fields.ts'

/** The encrypted part of a thinking part, or the signature of the call that follows it. */
export type KeptContent =
  | { readonly signature: string }
  | { readonly redacted: string }
  | { readonly callId: string; readonly callSignature: string }

/** Adds the prefix that keeps the encrypted content from providers of other formats. */
export const ownContent = (encrypted: string): string => `${OWN}${encrypted}`

/** Returns the encrypted content of a thinking part, or null if it is of another format. */
export function encryptedForProvider({ signature, redacted }: ThinkingPart): string | null {
  const content = redacted ?? signature ?? ''
  return content.startsWith(OWN) ? content.slice(OWN.length) : null
}

/** Returns the `encrypted_content` of a thinking part for a caller, or null if there is none. */
export function encryptedForCaller(part: ThinkingPart): string | null {
  const own = encryptedForProvider(part)
  if (own !== null) return own
  const { signature, redacted } = part
  if (redacted !== undefined) return wrap({ redacted })
  return signature === undefined ? null : wrap({ signature })
}

/**
 * Returns an `encrypted_content` that holds the signature of a call. The caller sends the item back
 * together with the call, which has no member for a signature.
 */
export const encryptedCallSignature = (callId: string, callSignature: string): string =>
  wrap({ callId, callSignature })

/** Reads an `encrypted_content` that a caller sent. `hasText` is true if its item has a text. */
export function readEncrypted(content: string, hasText: boolean): KeptContent {
  const own = ownContent(content)
  return unwrap(content) ?? (hasText ? { signature: own } : { redacted: own })
}

const wrap = (kept: KeptContent): string =>
  Buffer.from(`provider:${JSON.stringify(kept)}`).toString('base64')

function unwrap(content: string): KeptContent | null {
  if (!content.startsWith(WRAPPED_SIGNATURE)) return null
  const text = Buffer.from(content, 'base64').toString('utf8')
  const kept = parsedObject(text.slice('provider:'.length))
  const signature = textOf(kept?.signature)
  const redacted = textOf(kept?.redacted)
  const callId = textOf(kept?.callId)
  const callSignature = textOf(kept?.callSignature)
  if (callId !== null && callSignature !== null) return { callId, callSignature }
  if (signature !== null) return { signature }
  return redacted === null ? null : { redacted }
}
