import type { ProviderEvidence } from '#domain/accounts/events.ts'
import {
  type BatchEvent,
  type BatchLinesBilled,
  type BilledLine,
  batchStream,
} from '#domain/batches/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import type { EventStore } from '#infra/event-store/port.ts'
import type { AttemptEvidence, BatchResult } from '../contract/calls.ts'

export type EvidenceView = {
  readonly host: string | null
  readonly seesAll: boolean
  readonly isMapped: boolean
}

/**
 * Returns the part of an attempt's evidence that the viewer may see. The owner of a call gets the
 * digests, the time of sending, and only those identifiers that the response to the call contained.
 */
export function evidenceOf(
  evidence: Partial<ProviderEvidence> | undefined,
  { host, seesAll, isMapped }: EvidenceView,
): AttemptEvidence | null {
  if (evidence === undefined) return host === null ? null : { host }
  const { sentAt, sent, file, received, requestId, model, fingerprint } = evidence
  const { system_fingerprint: system } = fingerprint ?? {}
  const ofOwner = system === undefined ? undefined : { system_fingerprint: system }
  return withoutUndefined({
    sent_at: sentAt,
    sent,
    file,
    received,
    request_id: seesAll ? requestId : undefined,
    model: seesAll || !isMapped ? model : undefined,
    fingerprint: seesAll ? fingerprint : ofOwner,
    host: seesAll ? (host ?? undefined) : undefined,
  })
}

const withoutUndefined = (fields: Record<string, unknown>): AttemptEvidence =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

/** Matches names in a provider's usage report that reveal the operator's costs or the provider. */
const COST_OR_PROVIDER_NAME = /cost|price|billing|upstream|provider|account/i

/**
 * Returns the usage report of the provider, or null if there is no report or the viewer may not see
 * the report. Only admins and auditors may see a report that reveals costs or the provider.
 */
export function usageReportOf(
  evidence: Partial<ProviderEvidence> | undefined,
  seesAll: boolean,
): string | null {
  const report = evidence?.usage ?? null
  return report !== null && (seesAll || !COST_OR_PROVIDER_NAME.test(report)) ? report : null
}

/**
 * The maximum number of batch results in the explanation of a call. The events of the batch contain
 * all results.
 */
const RESULTS_MAX = 100
/** The maximum number of events that are searched for results. One event has up to 200 results. */
const SEARCHED_MAX = 100
const PAGE = 10

/**
 * Lists the batch results for which one call pays, at most `RESULTS_MAX`, in the order in which
 * they were billed. A batch has one call for each combination of model and price.
 */
export async function resultsOfBatch(
  store: Pick<EventStore, 'readStream'>,
  { batch, call, seesAll }: { batch: string; call: string; seesAll: boolean },
): Promise<BatchResult[]> {
  const results: BatchResult[] = []
  let part = -1
  for (let at = 0; at < SEARCHED_MAX; at += PAGE) {
    const events = (await store.readStream(batchStream(batch), at, PAGE)) as Recorded<BatchEvent>[]
    for (const event of events) {
      if (event.type === 'BatchSubmitted') {
        part = event.data.parts.findIndex((one) => one.call === call)
      }
      if (event.type !== 'BatchLinesBilled') continue
      results.push(...resultsIn(event as Recorded<BatchLinesBilled>, part, seesAll))
    }
    if (events.length < PAGE || results.length >= RESULTS_MAX) break
  }
  return results.slice(0, RESULTS_MAX)
}

const resultsIn = (
  { position, data: { lines } }: Recorded<BatchLinesBilled>,
  part: number,
  seesAll: boolean,
): BatchResult[] =>
  lines.filter((line) => line.part === part).map((line) => resultOf(line, position, seesAll))

function resultOf(
  { line, charge, evidence, isOtherModel }: BilledLine,
  position: number,
  seesAll: boolean,
): BatchResult {
  const isMapped = evidence?.sentModel !== undefined
  return {
    ...{ line, position, charge },
    ...(seesAll ? { is_other_model: isOtherModel === true } : {}),
    evidence: evidenceOf(evidence, { host: null, seesAll, isMapped }),
    usage: usageReportOf(evidence, seesAll),
  }
}
