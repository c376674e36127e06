import { createCipheriv, createDecipheriv, type KeyObject, randomFillSync } from 'node:crypto'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Encrypts with AES-256-GCM under a 32-byte key and a new random nonce. Returns nonce, ciphertext
 * and tag. `context` is bound as associated data, so a record that is moved to another context
 * can't be decrypted. NOTE: the key is a KeyObject, because wrapping a plain key at every call
 * takes three times as long as the encryption.
 */
export function encrypt(key: KeyObject, context: string, plaintext: Uint8Array): Buffer {
  const nonce = newNonce()
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(Buffer.from(context))
  const body = cipher.update(plaintext)
  return Buffer.concat([nonce, body, cipher.final(), cipher.getAuthTag()])
}

/** Decrypts a record. Throws if the key or context is wrong, or if a bit was changed. */
export function decrypt(key: KeyObject, context: string, sealed: Uint8Array): Buffer {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new Error('a sealed record is too short')
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length)
  const nonce = bytes.subarray(0, NONCE_BYTES)
  const cipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(Buffer.from(context))
  cipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  const plaintext = cipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES))
  // In GCM mode, `final` returns no data, but throws when the tag is wrong.
  cipher.final()
  return plaintext
}

/**
 * Random bytes for the next nonces, generated in blocks, because each call of the random generator
 * is expensive.
 */
const nonces = Buffer.alloc(NONCE_BYTES * 256)
let used = nonces.length

function newNonce(): Buffer {
  if (used === nonces.length) {
    randomFillSync(nonces)
    used = 0
  }
  used += NONCE_BYTES
  return nonces.subarray(used - NONCE_BYTES, used)
}
