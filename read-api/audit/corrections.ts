import { correctionsDecider } from '#domain/corrections/decide.ts'
import { CORRECTIONS_STREAM } from '#domain/corrections/events.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { onlyAuditor, onlyUser } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import {
  type CorrectedCallRow,
  callsCorrectedAt,
  correctionsOfCalls,
  NOTHING_APPLIED,
  sumsOfCorrections,
} from '#projections/corrected-calls/query.ts'
import { usernamesByIds, usersByIds } from '#projections/users/query.ts'
import type { ChargeCorrection } from '../contract/calls.ts'
import { correctionQueries } from '../contract/corrections.ts'
import { type CorrectedCalls, ledgerQueries } from '../contract/ledger.ts'
import type { LoggedCorrection } from '../contract/logs.ts'
import {
  type App,
  integerOf,
  type ReadDeps,
  upToDate,
} from '../read-dependencies-and-query-parameters.ts'
import { auditError } from './audit-errors.ts'
import { type LedgerViewer, ownLedger, userLedger } from './ledger-statement-and-balance-routes.ts'

const PAGE_SIZE = 50

/** `GET /api/audit/corrections`: corrections of charges, newest first. */
export function listCorrections(app: App, deps: ReadDeps): void {
  const { core } = deps
  app.route({
    ...endpoint(correctionQueries, 'GET /api/audit/corrections'),
    onRequest: onlyAuditor,
    preHandler: upToDate(deps, 'corrected-calls', 'users'),
    handler: async ({ query }) => {
      const { corrections } = await core.actors.peek(correctionsDecider, CORRECTIONS_STREAM)
      // The cursor is the number of corrections that are older than the page.
      const end = Math.min(integerOf(query.cursor) ?? corrections.length, corrections.length)
      const start = Math.max(0, end - Number(query.limit ?? PAGE_SIZE))
      const page = corrections.slice(start, end).reverse()
      const [names, applied] = await Promise.all([
        usernamesByIds(
          core.db,
          page.map(({ requestedBy }) => requestedBy),
        ),
        sumsOfCorrections(
          core.db,
          page.map(({ id }) => id),
        ),
      ])
      const items = await Promise.all(
        page.map(async ({ id, scope, planned, note, requestedBy, ...course }) => {
          const { startedAt, finishedAt, failed = [] } = course
          const { model, group, from, to, price } = scope
          const preview = Buffer.from(JSON.stringify({ id, scope })).toString('base64url')
          return {
            ...{ id, model, group, from, to, price: { ...price }, ...planned },
            applied: applied.get(id) ?? NOTHING_APPLIED,
            reason: (await core.vault.open(requestedBy, note)) ?? '',
            requested_by: requestedBy,
            requested_by_name: names.get(requestedBy) ?? '',
            started_at: Math.floor(startedAt / 1_000),
            finished_at: finishedAt === null ? null : Math.floor(finishedAt / 1_000),
            failed: failed.map(({ userId, calls, code }) => ({ user_id: userId, calls, code })),
            preview: finishedAt === null ? preview : null,
          }
        }),
      )
      return success({ items, next_cursor: start === 0 ? null : String(start) })
    },
  })
}

type CorrectionsCore = Pick<Core, 'actors' | 'db' | 'vault'>

/** The user who confirmed a correction of charges, and the reason that the user gave. */
type Confirmation = Pick<ChargeCorrection, 'requested_by' | 'reason'>

const UNCONFIRMED: Confirmation = { requested_by: { id: 0, name: '' }, reason: '' }

/**
 * Maps the id of each correction to the admin who confirmed the correction, and to the reason. The
 * name and the reason are empty if the personal data of the admin has been erased. The name is also
 * empty if `seesAll` is false, because the owner of a call does not see the names of admins.
 */
async function confirmationsOf(
  { actors, db, vault }: CorrectionsCore,
  rows: readonly CorrectedCallRow[],
  seesAll: boolean,
): Promise<ReadonlyMap<string, Confirmation>> {
  if (rows.length === 0) return new Map()
  const ids = new Set(rows.map(({ correctionId }) => correctionId))
  const { corrections } = await actors.peek(correctionsDecider, CORRECTIONS_STREAM)
  const named = corrections.filter(({ id }) => ids.has(id))
  const users = await usersByIds(
    db,
    named.map(({ requestedBy }) => requestedBy),
  )
  const names = new Map(users.map(({ id, username }) => [id, username]))
  const found = new Map<string, Confirmation>()
  for (const { id, requestedBy, note } of named) {
    const reason = (await vault.open(requestedBy, note)) ?? ''
    const name = (seesAll && names.get(requestedBy)) || ''
    found.set(id, { requested_by: { id: requestedBy, name }, reason })
  }
  return found
}

/** Returns the corrections of the charge of one call, oldest first. */
export async function correctionsOf(
  core: CorrectionsCore,
  call: string,
  seesAll: boolean,
): Promise<ChargeCorrection[]> {
  const rows = await correctionsOfCalls(core.db, [call])
  const confirmations = await confirmationsOf(core, rows, seesAll)
  return rows.map(({ correctionId, position, revision, createdAt, balanceAfter, ...row }) => ({
    ...{ correction_id: correctionId, position, revision, created_at: createdAt },
    ...{ balance_after: balanceAfter, held_after: row.heldAfter },
    ...{ charge: row.charge, corrected: row.corrected, amount: row.corrected - row.charge },
    unpaid: row.unpaid,
    ...(confirmations.get(correctionId) ?? UNCONFIRMED),
  }))
}

/**
 * Maps the request id of each of the given calls to the corrections of the call, oldest first.
 * Calls without corrections are left out.
 */
export async function loggedCorrections(
  core: CorrectionsCore,
  calls: readonly string[],
  seesAll: boolean,
): Promise<ReadonlyMap<string, readonly LoggedCorrection[]>> {
  const rows = calls.length === 0 ? [] : await correctionsOfCalls(core.db, calls)
  const confirmations = await confirmationsOf(core, rows, seesAll)
  return new Map(
    [...Map.groupBy(rows, ({ call }) => call)].map(([call, ofCall]) => [
      call,
      ofCall.map(({ correctionId, createdAt, charge, corrected }) => ({
        ...{ correction_id: correctionId, created_at: createdAt, charge, corrected },
        amount: corrected - charge,
        ...(confirmations.get(correctionId) ?? UNCONFIRMED),
      })),
    ]),
  )
}

/**
 * `GET /api/ledger/self/corrections/:position` and, for auditors, `GET
 * /api/audit/ledger/:userId/corrections/:position`. Returns the calls whose charges the ledger
 * entry at this position corrected.
 */
export function listCorrectedCalls(app: App, deps: ReadDeps): void {
  const preHandler = upToDate(deps, 'corrected-calls', 'users')
  app.route({
    ...endpoint(ledgerQueries, 'GET /api/ledger/self/corrections/:position'),
    ...{ preHandler, onRequest: onlyUser },
    handler: async (request) =>
      success(await correctedCallsAt(deps, ownLedger(request), request.params.position)),
  })
  app.route({
    ...endpoint(ledgerQueries, 'GET /api/audit/ledger/:userId/corrections/:position'),
    ...{ preHandler, onRequest: onlyAuditor },
    handler: async ({ params }) =>
      success(await correctedCallsAt(deps, await userLedger(deps, params.userId), params.position)),
  })
}

async function correctedCallsAt(
  { core }: ReadDeps,
  { userId, isOwner }: LedgerViewer,
  position: string,
): Promise<CorrectedCalls> {
  const rows = await callsCorrectedAt(core.db, userId, Number(position))
  const [first] = rows
  if (first === undefined) throw auditError('EventUnknown')
  const confirmations = await confirmationsOf(core, rows, !isOwner)
  return {
    ...{ correction_id: first.correctionId, created_at: first.createdAt },
    ...(confirmations.get(first.correctionId) ?? UNCONFIRMED),
    calls: rows.map(({ call, charge, corrected, unpaid }) => ({
      ...{ request_id: call, charge, corrected, amount: corrected - charge, unpaid },
    })),
  }
}
