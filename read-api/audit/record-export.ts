import type { FastifyReply, FastifyRequest } from 'fastify'
import { type DataExported, EXPORTS_STREAM } from '#domain/audit/events.ts'
import { newEvents } from '#infra/event-store/events-from-facts.ts'
import { principalOf } from '#infra/http/access-checks.ts'
import { contextOfUser } from '#infra/http/command-context.ts'
import { httpError } from '#infra/http/http-errors.ts'
import { isFull } from '#infra/limits/port.ts'
import type { createPermits } from '../logs/export-permits.ts'
import { integerOf, type ReadDeps } from '../read-route-helpers.ts'

/**
 * The maximum number of exports per user and hour. Each export is recorded as a permanent event,
 * and a script could otherwise record any number of them.
 */
const PER_HOUR_MAX = 60
const HOUR_MS = 3_600_000

/** The request for an export, and the permits of its route. */
export type Exporting = {
  readonly deps: ReadDeps
  readonly permits: ReturnType<typeof createPermits>
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

type Exported = Pick<DataExported['data'], 'exported' | 'userId' | 'invoiceId' | 'format'> & {
  readonly query: object
}

/**
 * Records an export of other users' data as an event. Call it before the first byte is sent. If the
 * event can't be appended, the export is not sent, and its permit is released. Throws a 429 after
 * 60 exports of a user in an hour.
 */
export async function recordExport(
  deps: Pick<ReadDeps, 'site'>,
  request: FastifyRequest,
  exported: Exported,
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
  { query, ...exported }: Exported,
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

/** The query parameters that start a range and end a range, and those that are no filters. */
const FROM = ['from', 'start_timestamp']
const TO = ['to', 'end_timestamp']
const NO_FILTERS: ReadonlySet<string> = new Set([...FROM, ...TO, 'format', 'zone', 'columns'])

function rangeOf(query: object): Pick<DataExported['data'], 'from' | 'to' | 'filters'> {
  const given = new Map(Object.entries(query).filter(([, value]) => value !== ''))
  const first = (names: readonly string[]): number | null => {
    const value = integerOf(names.map((name) => given.get(name)).find((text) => text !== undefined))
    return value !== undefined && Number.isSafeInteger(value) ? value : null
  }
  return {
    ...{ from: first(FROM), to: first(TO) },
    filters: [...given.keys()].filter((name) => !NO_FILTERS.has(name)),
  }
}
