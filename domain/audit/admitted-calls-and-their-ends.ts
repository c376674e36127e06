import type { CallInterrupted, CallSettled } from '../accounts/events.ts'
import type { Recorded } from '../shared/event.ts'
import {
  addCorrectableCall,
  type CorrectableCall,
  type CorrectableCallTable,
  createCorrectableCallTable,
  findCorrectableCall,
} from './correctable-call-table.ts'
import {
  addId,
  type FingerprintTable,
  findSlot,
  fingerprintOf,
  type IdSet,
  insertText,
  noIds,
} from './fingerprint-table.ts'

type CallEnd = CallSettled | CallInterrupted

/**
 * The calls that an audit has read. They let the audit detect a second admission of a call and a
 * wrong correction of a charge. With the kind `terms`, the state contains the usage and the price
 * of each ended call, so that no event is read twice. With the kind `positions`, the state contains
 * only the position of the event that ended each call, and is a third as large. The caller must
 * read the events at the positions that `endsToRead` returns, and pass them to `provideEnd`, before
 * a correction is applied.
 */
export type RememberedCalls =
  | { readonly kind: 'terms'; readonly ids: IdSet; readonly ended: CorrectableCallTable }
  | {
      readonly kind: 'positions'
      readonly positions: CallPositions
      /**
       * The data of ended calls whose final events were read again, by account stream and call id.
       */
      readonly provided: Map<string, CorrectableCall>
    }

export const noRememberedCalls = (kind: RememberedCalls['kind']): RememberedCalls =>
  kind === 'terms'
    ? { kind, ids: noIds(), ended: createCorrectableCallTable() }
    : { kind, positions: noCallPositions(), provided: new Map() }

/** Adds an admitted call. Returns false if the call was admitted before. */
export const rememberAdmission = (calls: RememberedCalls, id: string): boolean =>
  calls.kind === 'terms' ? addId(calls.ids, id) : addCall(calls.positions, id)

/**
 * Adds the end of a call whose admission is unknown, because the audit did not begin at the first
 * event. Returns false if the call has already ended.
 */
export const rememberUnknownEnd = (calls: RememberedCalls, id: string): boolean =>
  rememberAdmission(calls, `end of ${id}`)

export function rememberEnd(calls: RememberedCalls, event: Recorded<CallEnd>): void {
  const { call } = event.data
  if (calls.kind === 'positions') recordEnd(calls.positions, call, event.position)
  else addCorrectableCall(calls.ended, keyOf(event.stream, call), endedCallOf(event))
}

/**
 * Returns the data of an ended call of an account. Returns null if no call of the account with this
 * id has ended with a charge.
 */
export function findEnd(
  calls: RememberedCalls,
  stream: string,
  call: string,
): CorrectableCall | null {
  const key = keyOf(stream, call)
  return calls.kind === 'positions'
    ? (calls.provided.get(key) ?? null)
    : findCorrectableCall(calls.ended, key)
}

/**
 * Returns the positions of the events that ended the calls `ids`. These events must be passed to
 * `provideEnd` before a correction of the calls is applied.
 */
export function endsToRead(calls: RememberedCalls, ids: readonly string[]): readonly number[] {
  if (calls.kind === 'terms') return []
  return ids.flatMap((id) => endOf(calls.positions, id) ?? [])
}

/**
 * Stores the event that ended a call, for the next correction. Events of other types are ignored.
 */
export function provideEnd(calls: RememberedCalls, event: Recorded): void {
  const isEnd = event.type === 'CallSettled' || event.type === 'CallInterrupted'
  if (calls.kind === 'terms' || !isEnd) return
  const end = event as Recorded<CallEnd>
  calls.provided.set(keyOf(end.stream, end.data.call), endedCallOf(end))
}

/** Removes the data that `provideEnd` has stored. */
export function forgetProvidedEnds(calls: RememberedCalls): void {
  if (calls.kind === 'positions') calls.provided.clear()
}

const keyOf = (stream: string, call: string): string => `${stream} ${call}`

const endedCallOf = ({ data, meta, position, ...event }: Recorded<CallEnd>): CorrectableCall => ({
  ...{ ...data, position, second: Math.floor(meta.at / 1_000) },
  isBilledByLine: event.type === 'CallSettled' && 'billedLines' in data,
})

/**
 * A compact table of the admitted calls, with the log position of the event that ended each call.
 * It takes 21 to 43 bytes per call. It is a hash table with open addressing and four columns: two
 * hold a 64-bit fingerprint of the call's id, and two hold the position. The table is plain data,
 * so that it can be stored with the state of an audit.
 */
type CallPositions = FingerprintTable

const SLOTS_MIN = 1_024
const COLUMNS = 4
const LAYOUT = { columns: COLUMNS, fullAt: 3 / 4 }
const WORD = 2 ** 32

export const noCallPositions = (): CallPositions => ({
  slots: new Uint32Array(COLUMNS * SLOTS_MIN),
  size: 0,
})

/** Adds a call. Returns false if the table already contains the call. */
export const addCall = (calls: CallPositions, id: string): boolean =>
  insertText(calls, LAYOUT, id) !== null

/**
 * Records the log position of the event that ended a call. If the call already has a position, this
 * position is kept.
 */
export function recordEnd(calls: CallPositions, id: string, position: number): void {
  addCall(calls, id)
  const at = findSlot(calls.slots, COLUMNS, ...fingerprintOf(id))
  if (positionAt(calls.slots, at) !== 0) return
  calls.slots[at + 2] = Math.floor(position / WORD)
  calls.slots[at + 3] = position % WORD
}

/**
 * Returns the position at which a call ended. Returns null if the call is unknown or has not ended.
 */
export function endOf({ slots }: CallPositions, id: string): number | null {
  const position = positionAt(slots, findSlot(slots, COLUMNS, ...fingerprintOf(id)))
  return position === 0 ? null : position
}

const positionAt = (slots: Uint32Array, at: number): number =>
  (slots[at + 2] ?? 0) * WORD + (slots[at + 3] ?? 0)
