import type { Vault } from './port.ts'

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
