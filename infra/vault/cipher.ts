import { createCipheriv, createDecipheriv, type KeyObject, randomFillSync } from 'node:crypto'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * AES-256-GCM under a 32-byte key: nonce, ciphertext, tag. A new random nonce each time; `context`
 * is bound in as associated data, so that a record moved elsewhere can't be read.
 *
 * NOTE: the key is an object made once; from bytes, Node would wrap it anew at every call, which
 * takes three times as long as all the rest.
 */
export function encrypt(key: KeyObject, context: string, plaintext: Uint8Array): Buffer {
  const nonce = newNonce()
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(Buffer.from(context))
  const body = cipher.update(plaintext)
  return Buffer.concat([nonce, body, cipher.final(), cipher.getAuthTag()])
}

/** Throws when key or context is another, or a bit was changed. */
export function decrypt(key: KeyObject, context: string, sealed: Uint8Array): Buffer {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new Error('a sealed record is too short')
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length)
  const nonce = bytes.subarray(0, NONCE_BYTES)
  const cipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(Buffer.from(context))
  cipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  const plaintext = cipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES))
  // In this mode nothing is left to come: it checks the tag, and throws.
  cipher.final()
  return plaintext
}

/** Drawn for many at once: the call costs more than the bytes. */
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
