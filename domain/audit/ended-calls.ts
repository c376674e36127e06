import type { PriceSnapshot } from '../pricing/price.ts'
import type { ChargedUsage } from '../pricing/price-corrections.ts'
import type { Usage, UsageCount } from '../pricing/usage.ts'
import { fingerprintOf } from './id-set.ts'

/** What a correction of an ended call is checked against. */
export type EndedCall = ChargedUsage & {
  readonly model: string
  readonly group: string
  /** The second (unix time) and the position of the end. */
  readonly second: number
  readonly position: number
  /** Whether the call was billed by the lines of a batch, which are not corrected. */
  readonly isBilledByLine: boolean
}

/**
 * The ended calls in 40 to 60 bytes each: an open hash table of 64-bit fingerprints whose third
 * column is the place of a record in `bytes`. A record consists of whole numbers in 7-bit groups.
 * What many calls share, such as the price, is kept once as text. It is plain data, so that it can
 * be stored with the state of an audit.
 */
export type EndedCalls = {
  slots: Uint32Array
  size: number
  bytes: Uint8Array
  used: number
  readonly texts: string[]
  readonly idsOfTexts: Map<string, number>
}

const SLOTS_MIN = 1_024
const BYTES_MIN = 16_384
/** A record has at most 7 numbers and the counts, of at most 8 bytes each. */
const RECORD_BYTES_MAX = 256

export const noEndedCalls = (): EndedCalls => ({
  slots: new Uint32Array(3 * SLOTS_MIN),
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
export function addEndedCall(calls: EndedCalls, id: string, call: EndedCall): void {
  const { price, usage, unpaidUsage, model, group } = call
  const { tools, conditions } = usage
  // Each change of an option gives prices another revision, which does not change a charge.
  const terms = JSON.stringify([model, group, { ...price, list: 0 }])
  const details = [tools ?? null, conditions ?? null, unpaidUsage ?? null]
  const isPlain = details.every((one) => one === null)
  const counts = COUNTS.map((name) => usage[name] ?? 0)
  const mask = counts.reduce((bits, count, index) => (count === 0 ? bits : bits | (1 << index)), 0)
  // The number of calls is optional.
  const number = call.calls === undefined ? 0 : call.calls + 1
  const numbers = [
    ...[textId(calls, terms), textId(calls, isPlain ? '' : JSON.stringify(details))],
    ...[call.charge, call.second, call.position, number * 2 + (call.isBilledByLine ? 1 : 0)],
    ...[mask, ...counts.filter((count) => count !== 0)],
  ]
  // Other numbers are invalid data, which other checks report.
  if (!numbers.every((one) => Number.isSafeInteger(one) && one >= 0)) return
  if (calls.size * 9 >= calls.slots.length * 2) growSlots(calls)
  const [high, low] = fingerprintOf(id)
  // Place 0 marks a free slot.
  if (!placeSlot(calls.slots, high, low, calls.used + 1)) return
  calls.size += 1
  writeNumbers(calls, numbers)
}

export function findEndedCall(calls: EndedCalls, id: string): EndedCall | null {
  const place = findSlot(calls.slots, fingerprintOf(id))
  if (place === null) return null
  const next = numberReader(calls.bytes, place - 1)
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

function textId({ texts, idsOfTexts }: EndedCalls, text: string): number {
  const known = idsOfTexts.get(text)
  if (known !== undefined) return known
  idsOfTexts.set(text, texts.length)
  texts.push(text)
  return texts.length - 1
}

function writeNumbers(calls: EndedCalls, numbers: readonly number[]): void {
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

function growSlots(calls: EndedCalls): void {
  const { slots } = calls
  const larger = new Uint32Array(slots.length * 2)
  for (let at = 0; at < slots.length; at += 3) {
    const [high = 0, low = 0, place = 0] = [slots[at], slots[at + 1], slots[at + 2]]
    if (place !== 0) placeSlot(larger, high, low, place)
  }
  calls.slots = larger
}

function placeSlot(slots: Uint32Array, high: number, low: number, place: number): boolean {
  const mask = slots.length / 3 - 1
  for (let slot = low & mask; ; slot = (slot + 1) & mask) {
    const at = 3 * slot
    if (slots[at + 2] === 0) {
      slots[at] = high
      slots[at + 1] = low
      slots[at + 2] = place
      return true
    }
    if (slots[at] === high && slots[at + 1] === low) return false
  }
}

function findSlot(
  slots: Uint32Array,
  [high, low]: readonly [high: number, low: number],
): number | null {
  const mask = slots.length / 3 - 1
  for (let slot = low & mask; ; slot = (slot + 1) & mask) {
    const at = 3 * slot
    if (slots[at + 2] === 0) return null
    if (slots[at] === high && slots[at + 1] === low) return slots[at + 2] ?? null
  }
}
