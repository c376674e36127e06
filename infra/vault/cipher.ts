import { createCipheriv, createDecipheriv, type KeyObject, randomFillSync } from 'node:crypto'
import type { Vault } from './port.ts'

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
 * Random bytes for the next nonces. They are generated in blocks, because each call of the random
 * generator is expensive.
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

/** The alphabet of the codes, without characters that look alike. A character encodes five bits. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789'
const CODE = /^[a-km-np-z2-9]{10}$/
const HALF_BITS = 25
const HALF = 2 ** HALF_BITS
/**
 * The rounds of the Feistel network. Four rounds are secure (Luby and Rackoff). The two additional
 * rounds cost only microseconds.
 */
const ROUNDS = [0, 1, 2, 3, 4, 5] as const

type Keyed = Pick<Vault, 'keyedHash'>

/**
 * Encodes an id as ten letters and digits, from which the id can't be derived without the key. A
 * keyed Feistel network over 50 bits computes the code, so codes are not stored.
 */
export function codeOfId(vault: Keyed, id: number): string {
  let [left, right] = [Math.floor(id / HALF), id % HALF]
  for (const round of ROUNDS) [left, right] = [right, left ^ mixed(vault, round, right)]
  return `${textOf(left)}${textOf(right)}`
}

/**
 * Returns the id that a code encodes, or null if the text does not have the form of a code. An
 * object with this id need not exist.
 */
export function idOfCode(vault: Keyed, code: string): number | null {
  const text = code.trim().toLowerCase()
  if (!CODE.test(text)) return null
  let [left, right] = [numberOf(text.slice(0, 5)), numberOf(text.slice(5))]
  for (const round of ROUNDS.toReversed()) {
    ;[left, right] = [right ^ mixed(vault, round, left), left]
  }
  return left * HALF + right
}

const mixed = ({ keyedHash }: Keyed, round: number, half: number): number =>
  Number.parseInt(keyedHash('invite', `${round}:${half}`).slice(0, 8), 16) % HALF

const textOf = (half: number): string =>
  [20, 15, 10, 5, 0].map((shift) => ALPHABET[(half >> shift) & 31]).join('')

const numberOf = (text: string): number =>
  [...text].reduce((number, letter) => number * 32 + ALPHABET.indexOf(letter), 0)
