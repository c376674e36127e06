import type { Vault } from './port.ts'

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
