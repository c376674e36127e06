import type { FastifyRequest } from 'fastify'
import { accountStream } from '#domain/accounts/events.ts'
import {
  buildReceipts,
  type IssuedReceipt,
  TreeTooSmall,
} from '#infra/audit-program/build-receipts-of-events.ts'
import { recordsOf } from '#infra/audit-program/open-sealed-log.ts'
import type { StoredRecord } from '#infra/audit-program/stored-record.ts'
import type { ConsistencyProof } from '#infra/audit-program/verify-receipts.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { firstRevision } from '#infra/event-store/binary-search-events.ts'
import { onlyUser, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { HttpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { success } from '#infra/http/response-envelope.ts'
import { SealedEventChanged } from '#infra/transparency-log/prove-events.ts'
import { MissingHash } from '#infra/transparency-log/read-checkpoints-and-tiles.ts'
import { correctionsOfCalls } from '#projections/corrected-calls/query.ts'
import {
  type Consistency,
  RECEIPTS_MAX,
  type Receipt,
  receiptQueries,
} from '../contract/receipts.ts'
import {
  type App,
  integerOf,
  type ReadDeps,
  upToDate,
} from '../read-dependencies-and-query-parameters.ts'
import { auditError } from './audit-errors.ts'
import { seesAllCalls, visibleCall } from './get-call.ts'

type Receipts = {
  readonly items: Receipt[]
  readonly consistency: Consistency | null
  readonly later_consistency: Consistency | null
  readonly key_rotations: string[]
}

/**
 * Builds the receipts for a response. `since` is the size of a Merkle tree that the caller has
 * verified before. If `since` is given, the response proves that the current tree extends the
 * verified tree. For `records` and `later`, see `buildReceipts`.
 */
async function receiptsOf(
  core: Core,
  records: readonly StoredRecord[],
  since: string | undefined,
  later: readonly StoredRecord[] = [],
): Promise<Receipts> {
  try {
    const built = await buildReceipts(core, records, integerOf(since) ?? null, later)
    const {
      items,
      consistency,
      later_consistency: laterConsistency,
      key_rotations: rotations,
    } = built
    return {
      items: items.map(responseOf),
      consistency: consistencyOf(consistency),
      later_consistency: consistencyOf(laterConsistency),
      key_rotations: [...rotations],
    }
  } catch (error) {
    if (error instanceof SealedEventChanged) {
      throw auditError('EventChanged', { position: error.position })
    }
    if (error instanceof MissingHash) throw auditError('TileMissing', { tile: error.tile })
    if (!(error instanceof TreeTooSmall)) throw error
    throw auditError('SizeInvalid', { field: 'since_size', max: error.size })
  }
}

const consistencyOf = (proof: ConsistencyProof | null): Consistency | null =>
  proof === null ? null : { ...proof, hashes: [...proof.hashes] }

const responseOf = ({ inclusion, cosignatures, ...receipt }: IssuedReceipt): Receipt => ({
  ...receipt,
  inclusion: inclusion === null ? null : { ...inclusion, hashes: [...inclusion.hashes] },
  cosignatures: [...cosignatures],
})

/**
 * `GET /api/audit/receipts/:requestId`: the receipts of the event that admitted the call, of the
 * event that ended it, and of each later correction of its charge.
 */
export function getCallReceipts(app: App, deps: ReadDeps): void {
  const { core } = deps
  app.route({
    ...endpoint(receiptQueries, 'GET /api/audit/receipts/:requestId'),
    onRequest: onlyUser,
    preHandler: upToDate(deps, 'call-log', 'open-calls', 'corrected-calls'),
    handler: async (request) => {
      const { userId, call, events } = await visibleCall(deps, request, request.params.requestId)
      const { admission, end } = events
      const corrections = await correctionsOfCalls(core.db, [call])
      const read = (found: readonly ({ readonly revision: number } | null)[]) =>
        recordsAt(core, accountStream(userId), found)
      const [records, later] = [await read([admission, end]), await read(corrections)]
      const { since_size: since } = request.query
      const receipts = await receiptsWithProvable(core, records, since, later)
      const missing = records.length + later.length - receipts.items.length
      return success({ user_id: userId, unproven_corrections: missing, ...receipts })
    },
  })
}

/**
 * Builds the receipts of a call and of its corrections. A correction is left out if its event was
 * changed or if the tile with its hash is lost. Otherwise, such a correction would prevent all
 * other receipts.
 */
async function receiptsWithProvable(
  core: Core,
  records: readonly StoredRecord[],
  since: string | undefined,
  corrections: readonly StoredRecord[],
): Promise<Receipts> {
  const orNull = (error: unknown): null => {
    if (error instanceof HttpError) return null
    throw error
  }
  const all = await receiptsOf(core, records, since, corrections).catch(orNull)
  if (all !== null) return all
  const provable: StoredRecord[] = []
  for (const correction of corrections) {
    const proved = await receiptsOf(core, [], undefined, [correction]).catch(orNull)
    if (proved !== null) provable.push(correction)
  }
  return await receiptsOf(core, records, since, provable)
}

async function recordsAt(
  core: Core,
  stream: string,
  events: readonly ({ readonly revision: number } | null)[],
): Promise<StoredRecord[]> {
  const records: StoredRecord[] = []
  for (const event of events) {
    if (event === null) continue
    records.push(...(await recordsOf(core).readStream(stream, event.revision, 1)))
  }
  return records
}

/** `GET /api/audit/receipts`: the receipt of the event at a position. */
export function getEventReceipt(app: App, { core }: ReadDeps): void {
  app.route({
    ...endpoint(receiptQueries, 'GET /api/audit/receipts'),
    onRequest: onlyUser,
    handler: async (request) => {
      const { position, since_size } = request.query
      const record = await recordAt(core, request, Number(position))
      if (record === null) throw auditError('EventUnknown')
      const [, owner] = /^account-(\d+)$/.exec(record.stream) ?? []
      const userId = owner === undefined ? null : Number(owner)
      return success({ user_id: userId, ...(await receiptsOf(core, [record], since_size)) })
    },
  })
}

/**
 * Returns the event at a position, or null if there is none that the caller may see. For ordinary
 * users, only the stream of their own account is searched. The response therefore reveals nothing
 * about other events.
 */
async function recordAt(
  core: Core,
  request: FastifyRequest,
  position: number,
): Promise<StoredRecord | null> {
  const records = recordsOf(core)
  if (seesAllCalls(request)) {
    const [record] = records.arePositionsDense
      ? await records.read(position - 1, 1)
      : await recordInGaps(core, position)
    return record?.position === position ? record : null
  }
  const stream = accountStream(principalOf(request).userId)
  const isReached = (event: { readonly position: number }) => event.position >= position
  const revision = await firstRevision(core.store, stream, isReached)
  const [record] = await records.readStream(stream, revision, 1)
  return record?.position === position ? record : null
}

/**
 * Reads the record at a position of a store whose positions have gaps. Such a store can't read
 * after a position at which there is no event.
 */
async function recordInGaps(core: Core, position: number): Promise<readonly StoredRecord[]> {
  const event = await core.store.eventAt(position)
  return event === null ? [] : recordsOf(core).readStream(event.stream, event.revision, 1)
}

/**
 * `GET /api/ledger/self/receipts`: the receipts of a range of events in the stream of the caller's
 * account.
 */
export function listOwnReceipts(app: App, { core }: ReadDeps): void {
  app.route({
    ...endpoint(receiptQueries, 'GET /api/ledger/self/receipts'),
    onRequest: onlyUser,
    handler: async (request) => {
      const { from_revision, to_revision, since_size } = request.query
      const stream = accountStream(principalOf(request).userId)
      const last = (await firstRevision(core.store, stream, () => false)) - 1
      const to = Math.min(integerOf(to_revision) ?? last, last)
      const from = integerOf(from_revision) ?? Math.max(0, to - RECEIPTS_MAX + 1)
      const isWide = to - from >= RECEIPTS_MAX
      if (isWide || (from > to && last >= 0)) {
        throw auditError('RangeInvalid', { field: 'from_revision', max: RECEIPTS_MAX })
      }
      const records = last < 0 ? [] : await recordsOf(core).readStream(stream, from, to - from + 1)
      const receipts = await receiptsOf(core, records, since_size)
      return success({ stream, last_revision: last, ...receipts })
    },
  })
}
