import type { CallInterrupted, CallSettled } from '#domain/accounts/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { hasDensePositions, positionOfTime } from '#infra/event-store/binary-search-events.ts'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import type { RecomputeCalls } from '../contract/repricing-and-corrections.ts'

export type EndedCall = Recorded<CallSettled | CallInterrupted>

const PAGE_SIZE = 500
const TIME_MAX_MS = 15_000
/**
 * The maximum difference between the clocks of processes, in milliseconds. The times of events may
 * be out of order by this much.
 */
const CLOCK_SKEW_MS_MAX = 60_000

/** Throws if the end of a range is before its start. */
export function checkRange({ from, to }: { readonly from: number; readonly to: number }): void {
  if (to < from) {
    throw invalidField('to', { zh: '不能早于 from', en: 'must not be before from' })
  }
}

/**
 * Reads the events of a time range in the order of their positions. For each page, calls `onCalls`
 * with the settled and interrupted calls that match the filter. At the time limit, the scan stops
 * and returns the position from which the next scan continues. Returns null if the range is
 * complete. The events are read instead of a read model, because the purpose of a scan is to check
 * the events.
 */
export async function scanEndedCalls(
  { store, config }: Pick<Core, 'store' | 'config'>,
  filter: RecomputeCalls,
  onCalls: (calls: readonly EndedCall[]) => void | Promise<void>,
  timeMaxMs = TIME_MAX_MS,
): Promise<string | null> {
  const until = performance.now() + timeMaxMs
  const isDense = hasDensePositions({ config })
  const [start, end] = [filter.from * 1_000, (filter.to + 1) * 1_000]
  let after =
    filter.cursor === undefined
      ? ((await positionOfTime(store, start - CLOCK_SKEW_MS_MAX, isDense)) ?? 0)
      : await positionOfCursor(store, Number(filter.cursor), isDense)
  for (;;) {
    const events = await store.readAll(after, PAGE_SIZE)
    const calls = events.filter((event): event is EndedCall => isMatch(event, filter))
    await onCalls(calls.filter(({ meta }) => meta.at >= start && meta.at < end))
    const last = events.at(-1)
    if (last === undefined || last.meta.at >= end + CLOCK_SKEW_MS_MAX) return null
    after = last.position
    if (performance.now() > until) return String(after)
  }
}

/**
 * Returns the position of a cursor. Where positions have gaps, throws if no event has it, because
 * the store could not read from there.
 */
async function positionOfCursor(
  store: Core['store'],
  cursor: number,
  isDense: boolean,
): Promise<number> {
  if (isDense || cursor === 0 || (await store.eventAt(cursor)) !== null) return cursor
  throw invalidField('cursor', { zh: '不是任何事件的位置', en: 'is not the position of an event' })
}

function isMatch(event: Recorded, { user_id, model, channel_id }: RecomputeCalls): boolean {
  if (event.type !== 'CallSettled' && event.type !== 'CallInterrupted') return false
  const { data } = event as EndedCall
  if (user_id !== undefined && data.userId !== user_id) return false
  if (model !== undefined && data.model !== model) return false
  return channel_id === undefined || data.channelId === channel_id
}
