import type { ChargeCorrected } from '#domain/accounts/events.ts'
import {
  endsToRead,
  forgetProvidedEnds,
  provideEnd,
  type RememberedCalls,
} from '#domain/audit/admitted-calls-and-their-ends.ts'
import { eventOf, type StoredRecord } from './stored-record.ts'
import type { RecordReader } from './stored-record-reader.ts'

/**
 * Reads the end events of corrected calls a second time, because the audit of a site remembers only
 * the positions of end events. Corrections are rare, and remembering the price and the usage of all
 * calls would need three times the memory. An end event is used only if `isUnchanged` resolves to
 * true, because the event may have been changed since it was first read. `isUnchanged` reports
 * changed events.
 */
export async function provideCallEnds(
  records: RecordReader,
  remembered: RememberedCalls,
  record: StoredRecord,
  isUnchanged: (end: StoredRecord) => Promise<boolean>,
): Promise<void> {
  if (record.type !== 'ChargeCorrected') return
  forgetProvidedEnds(remembered)
  for (const position of endsToRead(remembered, callsIn(record))) {
    const [end] = await records.read(position - 1, 1)
    if (end?.position === position && (await isUnchanged(end))) provide(remembered, end)
  }
}

/**
 * Returns the ids of the corrected calls. Returns an empty list if the event cannot be parsed. The
 * error is reported when the event is applied to the audit.
 */
function callsIn(record: StoredRecord): readonly string[] {
  try {
    const { calls } = eventOf(record).data as ChargeCorrected['data']
    return calls.map(({ call }) => call)
  } catch {
    return []
  }
}

/**
 * Passes an end event to the audit. An event that cannot be parsed is skipped. The audit then
 * reports that the correction names an unknown call.
 */
function provide(remembered: RememberedCalls, end: StoredRecord): void {
  try {
    provideEnd(remembered, eventOf(end))
  } catch {}
}
