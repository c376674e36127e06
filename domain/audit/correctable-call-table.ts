import type { ChargedUsage } from '../pricing/charge-at-corrected-price.ts'
import type { PriceSnapshot } from '../pricing/price-snapshot.ts'
import type { Usage, UsageCount } from '../pricing/usage.ts'
import {
  type FingerprintTable,
  findSlot,
  fingerprintOf,
  insertText,
  isFree,
} from './fingerprint-table.ts'

/** The data of an ended call that is needed to check a later correction of its charge. */
export type CorrectableCall = ChargedUsage & {
  readonly model: string
  readonly group: string
  /**
   * The time in Unix seconds of the event that ended the call. `position` is the event's log
   * position.
   */
  readonly second: number
  readonly position: number
  /** True if the call was billed by the lines of a batch. Such calls are never corrected. */
  readonly isBilledByLine: boolean
}

/**
 * A compact table of the ended calls, which takes 40 to 60 bytes per call. It is a hash table with
 * open addressing and three columns: two hold a 64-bit fingerprint of the call's id, and the third
 * holds the offset of the call's record in `bytes`. A record consists of integers in groups of 7
 * bits. Data that many calls share, such as the price, is stored only once, as text. The table is
 * plain data, so that it can be stored with the state of an audit.
 */
export type CorrectableCallTable = FingerprintTable & {
  bytes: Uint8Array
  used: number
  readonly texts: string[]
  readonly idsOfTexts: Map<string, number>
}

const SLOTS_MIN = 1_024
const COLUMNS = 3
const LAYOUT = { columns: COLUMNS, fullAt: 2 / 3 }
const BYTES_MIN = 16_384
/**
 * The maximum size of a record in bytes. A record has at most 7 numbers and the counts of the
 * usage. Each number or count takes at most 8 bytes.
 */
const RECORD_BYTES_MAX = 256

export const createCorrectableCallTable = (): CorrectableCallTable => ({
  slots: new Uint32Array(COLUMNS * SLOTS_MIN),
  size: 0,
  bytes: new Uint8Array(BYTES_MIN),
  used: 0,
  texts: [''],
  idsOfTexts: new Map([['', 0]]),
})

const COUNTS: readonly UsageCount[] = [
  ...(['inputUncached', 'cacheRead', 'cacheWrite5m', 'cacheWrite1h'] as const),
  ...(['inputAudio', 'inputImage', 'output', 'reasoning', 'outputAudio'] as const),
  ...(['outputImage', 'toolCalls', 'images', 'seconds', 'characters', 'searchUnits'] as const),
]

/** Adds a call under an id. Of two calls with the same id, the first one is kept. */
export function addCorrectableCall(
  calls: CorrectableCallTable,
  id: string,
  call: CorrectableCall,
): void {
  const { price, usage, unpaidUsage, model, group } = call
  const { tools, conditions } = usage
  // `list` is the revision of the price options. It changes with every edit of an option and does
  // not affect a charge, so it is replaced by 0.
  const terms = JSON.stringify([model, group, { ...price, list: 0 }])
  const details = [tools ?? null, conditions ?? null, unpaidUsage ?? null]
  const isPlain = details.every((one) => one === null)
  const counts = COUNTS.map((name) => usage[name] ?? 0)
  const mask = counts.reduce((bits, count, index) => (count === 0 ? bits : bits | (1 << index)), 0)
  // 0 means that the event does not contain a number of calls.
  const number = call.calls === undefined ? 0 : call.calls + 1
  const numbers = [
    ...[textId(calls, terms), textId(calls, isPlain ? '' : JSON.stringify(details))],
    ...[call.charge, call.second, call.position, number * 2 + (call.isBilledByLine ? 1 : 0)],
    ...[mask, ...counts.filter((count) => count !== 0)],
  ]
  // A call with a negative or fractional number is invalid. It is skipped here, because other
  // checks report it.
  if (!numbers.every((one) => Number.isSafeInteger(one) && one >= 0)) return
  const at = insertText(calls, LAYOUT, id)
  if (at === null) return
  calls.slots[at + 2] = calls.used
  writeNumbers(calls, numbers)
}

export function findCorrectableCall(
  calls: CorrectableCallTable,
  id: string,
): CorrectableCall | null {
  const { slots } = calls
  const at = findSlot(slots, COLUMNS, ...fingerprintOf(id))
  if (isFree(slots, at)) return null
  const next = numberReader(calls.bytes, slots[at + 2] ?? 0)
  const [terms, details] = [calls.texts[next()], calls.texts[next()]]
  const [model, group, price] = JSON.parse(terms ?? '') as [string, string, PriceSnapshot]
  const [charge, second, position, flags] = [next(), next(), next(), next()]
  const mask = next()
  const counts = COUNTS.map((name, index) => [name, mask & (1 << index) ? next() : 0] as const)
  const [tools, conditions, unpaidUsage] = details
    ? (JSON.parse(details) as [Usage['tools'], Usage['conditions'], Usage | null])
    : []
  const usage = {
    ...Object.fromEntries(counts.filter(([name, count]) => count > 0 || name !== 'outputImage')),
    ...(tools ? { tools } : {}),
    ...(conditions ? { conditions } : {}),
  } as Usage
  const number = Math.floor(flags / 2)
  return {
    ...{ model, group, price, usage, charge, second, position, isBilledByLine: flags % 2 === 1 },
    ...(number === 0 ? {} : { calls: number - 1 }),
    ...(unpaidUsage ? { unpaidUsage } : {}),
  }
}

function textId({ texts, idsOfTexts }: CorrectableCallTable, text: string): number {
  const storedId = idsOfTexts.get(text)
  if (storedId !== undefined) return storedId
  idsOfTexts.set(text, texts.length)
  texts.push(text)
  return texts.length - 1
}

function writeNumbers(calls: CorrectableCallTable, numbers: readonly number[]): void {
  if (calls.used + RECORD_BYTES_MAX > calls.bytes.length) {
    const larger = new Uint8Array(calls.bytes.length * 2)
    larger.set(calls.bytes)
    calls.bytes = larger
  }
  for (const number of numbers) {
    let rest = number
    while (rest > 127) {
      calls.bytes[calls.used++] = (rest % 128) + 128
      rest = Math.floor(rest / 128)
    }
    calls.bytes[calls.used++] = rest
  }
}

function numberReader(bytes: Uint8Array, from: number): () => number {
  let at = from
  return () => {
    let number = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++] ?? 0
      number += (byte % 128) * factor
      if (byte < 128) return number
    }
  }
}
