import type { ChargeCorrected } from '#domain/accounts/events.ts'
import {
  endsToRead,
  forgetProvidedEnds,
  provideEnd,
  type RememberedCalls,
} from '#domain/audit/remembered-calls.ts'
import { eventOf, type StoredRecord } from './stored-record.ts'
import type { RecordReader } from './stored-record-reader.ts'

/**
 * Reads the ends of the calls that a correction names again, because the audit of a site remembers
 * only their positions. Corrections are rare, and the price and the usage of all calls would need
 * three times the memory. An end may have been changed since it was first read, so it is provided
 * only if `isUnchanged` resolves to true, which reports the others.
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
 * Returns the ids of the corrected calls. Returns none if the event cannot be parsed, which is
 * reported when the event is applied.
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
 * The correction of an end that was changed, or cannot be read any more, is reported as one of an
 * unknown call.
 */
function provide(remembered: RememberedCalls, end: StoredRecord): void {
  try {
    provideEnd(remembered, eventOf(end))
  } catch {}
}
