import { createCipheriv, createDecipheriv, type KeyObject, randomFillSync } from 'node:crypto'
import type { Vault } from './port.ts'

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

/** Without characters that are mistaken for others: five bits each. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789'
const CODE = /^[a-km-np-z2-9]{10}$/
const HALF_BITS = 25
const HALF = 2 ** HALF_BITS
/** Four already hide which code is whose (Luby and Rackoff); two more cost microseconds. */
const ROUNDS = [0, 1, 2, 3, 4, 5] as const

type Keyed = Pick<Vault, 'keyedHash'>

/**
 * An id as a code of ten letters and digits that can't be told from the id without the key, and
 * back: a Feistel network over 50 bits, its rounds keyed. Nothing is kept, so nothing is searched.
 */
export function codeOfId(vault: Keyed, id: number): string {
  let [left, right] = [Math.floor(id / HALF), id % HALF]
  for (const round of ROUNDS) [left, right] = [right, left ^ mixed(vault, round, right)]
  return `${textOf(left)}${textOf(right)}`
}

/** null when it is no code at all; any other code stands for some id, mostly nobody's. */
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
