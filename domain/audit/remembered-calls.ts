import type { CallInterrupted, CallSettled } from '../accounts/events.ts'
import type { Recorded } from '../shared/event.ts'
import { addCall, type CallPositions, endOf, noCallPositions, recordEnd } from './call-positions.ts'
import {
  addEndedCall,
  type EndedCall,
  type EndedCalls,
  findEndedCall,
  noEndedCalls,
} from './ended-calls-table.ts'
import { addId, type IdSet, noIds } from './id-set.ts'

type CallEnd = CallSettled | CallInterrupted

/**
 * What an audit remembers of all calls, so that a second admission and a wrong correction are
 * recognised. With `terms`, the usage and the price of each call are in the state, and the fold
 * needs nothing but the events. With `positions`, the state is a third as large and has only the
 * position of each end: before a correction is applied, its caller reads the events that
 * `endsToRead` names again, and passes them to `provideEnd`.
 */
export type RememberedCalls =
  | { readonly kind: 'terms'; readonly ids: IdSet; readonly ended: EndedCalls }
  | {
      readonly kind: 'positions'
      readonly positions: CallPositions
      /** The ends that were read again, by account and call. */
      readonly provided: Map<string, EndedCall>
    }

export const noRememberedCalls = (kind: RememberedCalls['kind']): RememberedCalls =>
  kind === 'terms'
    ? { kind, ids: noIds(), ended: noEndedCalls() }
    : { kind, positions: noCallPositions(), provided: new Map() }

/** Adds an admitted call. Returns false if the call was admitted before. */
export const rememberAdmission = (calls: RememberedCalls, id: string): boolean =>
  calls.kind === 'terms' ? addId(calls.ids, id) : addCall(calls.positions, id)

/**
 * Adds the end of a call whose admission is unknown, in an audit of a part. Returns false if it
 * ended before.
 */
export const rememberUnknownEnd = (calls: RememberedCalls, id: string): boolean =>
  rememberAdmission(calls, `end of ${id}`)

export function rememberEnd(calls: RememberedCalls, event: Recorded<CallEnd>): void {
  const { call } = event.data
  if (calls.kind === 'positions') recordEnd(calls.positions, call, event.position)
  else addEndedCall(calls.ended, keyOf(event.stream, call), endedCallOf(event))
}

/** Returns the end of a call in an account, or null if it did not end there with a charge. */
export function findEnd(calls: RememberedCalls, stream: string, call: string): EndedCall | null {
  const key = keyOf(stream, call)
  return calls.kind === 'positions'
    ? (calls.provided.get(key) ?? null)
    : findEndedCall(calls.ended, key)
}

/** Returns the positions of the ends that must be provided before a correction is applied. */
export function endsToRead(calls: RememberedCalls, ids: readonly string[]): readonly number[] {
  if (calls.kind === 'terms') return []
  return ids.flatMap((id) => endOf(calls.positions, id) ?? [])
}

/** Provides the end of a call for the next correction. Other events are ignored. */
export function provideEnd(calls: RememberedCalls, event: Recorded): void {
  const isEnd = event.type === 'CallSettled' || event.type === 'CallInterrupted'
  if (calls.kind === 'terms' || !isEnd) return
  const end = event as Recorded<CallEnd>
  calls.provided.set(keyOf(end.stream, end.data.call), endedCallOf(end))
}

/** Forgets the ends that were provided for a correction. */
export function forgetProvidedEnds(calls: RememberedCalls): void {
  if (calls.kind === 'positions') calls.provided.clear()
}

const keyOf = (stream: string, call: string): string => `${stream} ${call}`

const endedCallOf = ({ data, meta, position, ...event }: Recorded<CallEnd>): EndedCall => ({
  ...{ ...data, position, second: Math.floor(meta.at / 1_000) },
  isBilledByLine: event.type === 'CallSettled' && 'billedLines' in data,
})
