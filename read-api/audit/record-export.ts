import type { FastifyReply, FastifyRequest } from 'fastify'
import { type DataExported, EXPORTS_STREAM } from '#domain/audit/events.ts'
import { newEvents } from '#infra/event-store/events-from-facts.ts'
import { principalOf } from '#infra/http/access-checks.ts'
import { contextOfUser } from '#infra/http/command-context.ts'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { isFull } from '#infra/limits/port.ts'
import type { createPermits } from '../logs/export-permits-and-streaming.ts'
import { integerOf, type ReadDeps } from '../read-dependencies-and-query-parameters.ts'

/**
 * The maximum number of exports per user and hour. Each export is recorded as a permanent event.
 * Without this limit, a script could record any number of such events.
 */
const PER_HOUR_MAX = 60
const HOUR_MS = 3_600_000

/** A request for an export, with the reply, the dependencies and the permits of its route. */
export type Exporting = {
  readonly deps: ReadDeps
  readonly permits: ReturnType<typeof createPermits>
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

type RecordedExport = Pick<DataExported['data'], 'exported' | 'userId' | 'invoiceId' | 'format'> & {
  readonly query: object
}

/**
 * Records in an event that a user exports data of other users. The caller must wait for this
 * function before sending the first byte. If the export can't be recorded, this function releases
 * the permit and throws. Throws a 429 if the user has exported 60 times in the last hour.
 */
export async function recordExport(
  deps: Pick<ReadDeps, 'site'>,
  request: FastifyRequest,
  exported: RecordedExport,
  release: () => void,
): Promise<void> {
  try {
    await record(deps, request, exported)
  } catch (error) {
    release()
    throw error
  }
}

async function record(
  { site }: Pick<ReadDeps, 'site'>,
  request: FastifyRequest,
  { query, ...exported }: RecordedExport,
): Promise<void> {
  const { userId } = principalOf(request)
  const key = `exports:${userId}`
  const outcome = await site.limits.enter(`user:${userId}`, [
    { kind: 'rate', key, max: PER_HOUR_MAX, periodMs: HOUR_MS, isRefundable: false },
  ])
  if (isFull(outcome)) throw httpError('TooManyRequests', {}, Math.ceil(outcome.waitMs / 1_000))
  outcome.release({ isRefunded: false })
  const data = { ...exported, ...rangeOf(query) }
  const event: DataExported = { type: 'DataExported', v: 1, data }
  const events = newEvents([event], await contextOfUser(site, request, userId))
  await site.store.append([{ stream: EXPORTS_STREAM, expected: 'any', events }])
}

/**
 * The query parameters for the start of a range. `RANGE_END_PARAMETERS` contains the parameters for
 * the end of a range, and `NON_FILTER_PARAMETERS` all parameters that are not filters.
 */
const RANGE_START_PARAMETERS = ['from', 'start_timestamp']
const RANGE_END_PARAMETERS = ['to', 'end_timestamp']
const NON_FILTER_PARAMETERS: ReadonlySet<string> = new Set([
  ...RANGE_START_PARAMETERS,
  ...RANGE_END_PARAMETERS,
  'format',
  'zone',
  'columns',
])

function rangeOf(query: object): Pick<DataExported['data'], 'from' | 'to' | 'filters'> {
  const parameters = new Map(Object.entries(query).filter(([, value]) => value !== ''))
  const first = (names: readonly string[]): number | null => {
    const value = integerOf(
      names.map((name) => parameters.get(name)).find((text) => text !== undefined),
    )
    return value !== undefined && Number.isSafeInteger(value) ? value : null
  }
  return {
    ...{ from: first(RANGE_START_PARAMETERS), to: first(RANGE_END_PARAMETERS) },
    filters: [...parameters.keys()].filter((name) => !NON_FILTER_PARAMETERS.has(name)),
  }
}
