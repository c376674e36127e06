import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * AES-256-GCM under a 32-byte key: nonce, ciphertext, tag. A new random nonce each time; `context`
 * is bound in as associated data, so that a record moved elsewhere can't be read.
 */
export function encrypt(key: Uint8Array, context: string, plaintext: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(Buffer.from(context))
  const body = Buffer.concat([cipher.update(plaintext), cipher.final()])
  return Buffer.concat([nonce, body, cipher.getAuthTag()])
}

/** Throws when key or context is another, or a bit was changed. */
export function decrypt(key: Uint8Array, context: string, sealed: Uint8Array): Buffer {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new Error('a sealed record is too short')
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length)
  const nonce = bytes.subarray(0, NONCE_BYTES)
  const cipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(Buffer.from(context))
  cipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  return Buffer.concat([cipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), cipher.final()])
}
