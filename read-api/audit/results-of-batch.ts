import {
  type BatchEvent,
  type BatchLinesBilled,
  type BilledLine,
  batchStream,
} from '#domain/batches/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import type { EventStore } from '#infra/event-store/port.ts'
import type { BatchResult } from '../contract/calls.ts'
import { evidenceOf, usageReportOf } from './visible-call-evidence.ts'

/**
 * The maximum number of batch results in the explanation of a call. The events of the batch contain
 * all results.
 */
const RESULTS_MAX = 100
/** The maximum number of events that are searched for results. One event has up to 200 results. */
const SEARCHED_MAX = 100
const PAGE = 10

/**
 * Lists the first results of a batch that one call pays for, in the order in which they were
 * billed. A batch has one call for each model and price.
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
