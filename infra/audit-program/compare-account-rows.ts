import { accountStream } from '#domain/accounts/events.ts'
import type { Findings } from '#domain/audit/findings.ts'
import type { AuditState } from '#domain/audit/state.ts'
import { balances } from '#projections/balances/projection.ts'
import { ledger } from '#projections/ledger/projection.ts'
import type { ProjectionName } from '#projections/projection-names.ts'
import { failureReason } from '#projections/runner/failure-reason.ts'
import type { DifferingRow } from '#projections/runner/find-differing-rows.ts'
import { foldContext } from '#projections/runner/start-projections.ts'
import { type AccountRows, verifyAccountRows } from '#projections/runner/verify-account-rows.ts'
import type { Core } from '../core-dependencies.ts'
import { reportDifferingRow } from './compare-read-models.ts'
import { selectAccountsToCompare } from './select-accounts-to-compare.ts'

/** The read models whose rows are compared account by account. */
export const ACCOUNT_READ_MODELS: readonly AccountRows[] = [
  { projection: balances, tables: ['accounts', 'token_budgets'] },
  { projection: ledger, tables: ['movements', 'account_days'] },
]

/** Columns of `accounts` that `compareBalances` has compared for all accounts. */
const COMPARED: ReadonlySet<string> = new Set(['balance', 'held', 'aff_quota'])

type Turn = {
  /** The streams of which the verification has read new events. */
  readonly touched: ReadonlySet<string>
  /** The first user whose turn it is. */
  readonly nextAccount: number
  readonly onProgress?: (stage: string, done: number, total: number) => void
  readonly signal?: AbortSignal | undefined
}

/**
 * Compares the rows of some accounts with a new fold of their events: used quota, counts of
 * requests, budgets of tokens, movements and their sums by day. Reports the rows that differ. Skips
 * the read models in `ahead`. Returns the user with whom the next verification begins.
 */
export async function compareAccountRows(
  core: Core,
  { revisions }: AuditState,
  ahead: ReadonlySet<ProjectionName>,
  { touched, nextAccount, onProgress = () => {}, signal }: Turn,
  findings: Findings,
): Promise<number> {
  const compared = ACCOUNT_READ_MODELS.filter(({ projection }) => !ahead.has(projection.name))
  const selection = selectAccountsToCompare(revisions, touched, nextAccount)
  const { accounts } = selection
  const { differing, failures } = await verifyAccountRows(
    ...([core, compared, foldContext(core), accounts] as const),
    { onProgress: (done, total) => onProgress('accounts', done, total), signal },
  )
  for (const { userId, error } of failures) {
    // An event that was changed may not be foldable, before it is its turn to be compared with the
    // log. The full verification that follows this finding names it.
    const stream = accountStream(userId)
    core.log.warn({ err: error, stream }, 'an account could not be folded for a verification')
    const params = { reason: failureReason(error) }
    findings.report('read-models', { stream }, 'EventsNotFoldable', params)
  }
  findings.checked('read-models', (accounts.length - failures.length) * compared.length)
  for (const { name, rows } of differing) {
    for (const row of rows) if (!isReported(row)) reportDifferingRow(name, row, findings)
  }
  return selection.nextAccount
}

const isReported = ({ kind, table, columns }: DifferingRow): boolean =>
  kind === 'differs' && table === 'accounts' && columns.every((column) => COMPARED.has(column))
