import { accountStream } from '#domain/accounts/events.ts'
import type { Findings } from '#domain/audit/findings.ts'
import type { AuditState } from '#domain/audit/state.ts'
import { balances } from '#projections/balances/projection.ts'
import { ledger } from '#projections/ledger/projection.ts'
import type { ProjectionName } from '#projections/projection-names.ts'
import type { DifferingRow } from '#projections/runner/find-differing-rows.ts'
import { foldContext } from '#projections/runner/start-projections.ts'
import { verificationErrorText } from '#projections/runner/verification-error-text.ts'
import {
  type AccountRows,
  type AccountToVerify,
  verifyAccountRows,
} from '#projections/runner/verify-account-rows.ts'
import type { Core } from '../core-dependencies.ts'
import { reportDifferingRow } from './compare-read-models.ts'

/** The read models whose rows are compared account by account. */
export const ACCOUNT_READ_MODELS: readonly AccountRows[] = [
  { projection: balances, tables: ['accounts', 'token_budgets'] },
  { projection: ledger, tables: ['movements', 'account_days'] },
]

/**
 * A row of `accounts` that differs only in these columns is not reported here, because
 * `compareBalances` compares these columns for all accounts.
 */
const COMPARED: ReadonlySet<string> = new Set(['balance', 'held', 'aff_quota'])

type Turn = {
  /** The streams of which the verification has read new events. */
  readonly touched: ReadonlySet<string>
  /**
   * The id of the first user whose turn it is in this verification. The rows of these users are
   * compared even if the users have no new events.
   */
  readonly nextAccount: number
  readonly onProgress?: (stage: string, done: number, total: number) => void
  readonly signal?: AbortSignal | undefined
}

/**
 * Compares the rows of some accounts with a new fold of the accounts' events. The rows contain used
 * quota, numbers of requests, token budgets, movements, and sums of movements by day. Reports the
 * rows that differ. Skips the read models in `ahead`, which include events that the event store
 * does not have. Returns the id of the user with whom the turn of the next verification begins.
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
    // A changed event may be impossible to fold, and the fold can fail before the event is compared
    // with the log. The full verification that follows this finding names the event.
    const stream = accountStream(userId)
    core.log.warn({ err: error, stream }, 'an account could not be folded for a verification')
    const params = { reason: verificationErrorText(error) }
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

/**
 * The rows of each account are compared at least once within this number of incremental
 * verifications. A verification runs every night, so every account is compared within a week.
 */
const VERIFICATIONS_PER_CYCLE = 6
/**
 * The accounts whose turn it is in one incremental verification have at least this number of events
 * in total, unless the turn ends with the last account. On a site with fewer events, each
 * verification compares all accounts.
 */
const EVENTS_IN_TURN_MIN = 100_000
/**
 * The maximum total number of events of the accounts that are compared because they have new
 * events. The remaining accounts with new events are compared when it is their turn.
 */
const EVENTS_OF_TOUCHED_MAX = 2_000_000

type AccountSelection = {
  /** The users whose rows are compared, with the numbers of their events. */
  readonly accounts: readonly AccountToVerify[]
  /**
   * The id of the first user in the turn of the next verification, or 0 to begin with the first
   * user.
   */
  readonly nextAccount: number
}

/**
 * Selects the accounts whose rows an incremental verification compares: the accounts whose turn it
 * is, and accounts with new events. Of the accounts with new events, those with the fewest events
 * come first. A turn ends as soon as its accounts have a sixth of all events, and at least
 * `EVENTS_IN_TURN_MIN`. Turns are bounded by events, because the duration of a verification depends
 * on events and not on accounts. `revisions` contains the last revision of each stream.
 */
export function selectAccountsToCompare(
  revisions: ReadonlyMap<string, number>,
  touched: ReadonlySet<string>,
  nextAccount: number,
): AccountSelection {
  const accounts: (AccountToVerify & { readonly isTouched: boolean })[] = []
  let total = 0
  for (const [stream, revision] of revisions) {
    const [, userId] = /^account-(\d+)$/.exec(stream) ?? []
    if (userId === undefined) continue
    const events = revision + 1
    total += events
    accounts.push({ userId: Number(userId), events, isTouched: touched.has(stream) })
  }
  accounts.sort((a, b) => a.userId - b.userId)
  const max = Math.max(EVENTS_IN_TURN_MIN, Math.ceil(total / VERIFICATIONS_PER_CYCLE))
  const found = accounts.findIndex(({ userId }) => userId >= nextAccount)
  const first = max >= total || found < 0 ? 0 : found
  let end = first
  for (let events = 0; events < max && end < accounts.length; end += 1) {
    events += accounts[end]?.events ?? 0
  }
  const selected = new Set(accounts.slice(first, end))
  let left = EVENTS_OF_TOUCHED_MAX
  for (const account of accounts.toSorted((a, b) => a.events - b.events)) {
    if (!account.isTouched || selected.has(account)) continue
    left -= account.events
    if (left < 0) break
    selected.add(account)
  }
  return {
    accounts: [...selected].map(({ userId, events }) => ({ userId, events })),
    nextAccount: accounts[end]?.userId ?? 0,
  }
}
