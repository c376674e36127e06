import {
  AUDIT_JOBS_STREAM,
  type RefusalAcknowledged,
  type WitnessRefused,
} from '#domain/audit/events.ts'
import { type Findings, WITNESS_CHECK } from '#domain/audit/findings.ts'
import { eventOf, type StoredRecord } from './stored-record.ts'
import type { RecordReader } from './stored-record-reader.ts'

const RECORDS_PAGE = 1_000

/**
 * Reports each witness that refused to sign this history, unless an admin has acknowledged the
 * refusal. The refusals are read from their own stream, because an incremental verification does
 * not read old events again.
 */
export async function reportRefusals(records: RecordReader, findings: Findings): Promise<void> {
  const refused: StoredRecord[] = []
  const acknowledged = new Set<string>()
  let page: readonly StoredRecord[] = []
  let from = 0
  do {
    page = await records.readStream(AUDIT_JOBS_STREAM, from, RECORDS_PAGE)
    from = (page.at(-1)?.revision ?? 0) + 1
    for (const record of page) {
      if (record.type === 'WitnessRefused') refused.push(record)
      if (record.type !== 'RefusalAcknowledged') continue
      const { id = '' } = dataOf<RefusalAcknowledged>(record) ?? {}
      acknowledged.add(id)
    }
  } while (page.length === RECORDS_PAGE)
  for (const record of refused) reportOne(record, acknowledged, findings)
}

function reportOne(
  record: StoredRecord,
  acknowledged: ReadonlySet<string>,
  findings: Findings,
): void {
  const refusal = dataOf<WitnessRefused>(record)
  if (refusal === null) {
    findings.expect(WITNESS_CHECK, false, record, 'WitnessUnreadable')
    return
  }
  const { id, witness, size } = refusal
  const params = { witness, size }
  if (acknowledged.has(id)) {
    findings.acknowledged(WITNESS_CHECK, record, { code: 'WitnessAcknowledged', params })
  } else findings.expect(WITNESS_CHECK, false, record, 'WitnessRefused', () => params)
}

/** Returns the data of an event, or null if the stored text was changed and is no longer JSON. */
function dataOf<Event extends { readonly data: object }>(
  record: StoredRecord,
): Event['data'] | null {
  try {
    return eventOf(record).data as Event['data']
  } catch {
    return null
  }
}
