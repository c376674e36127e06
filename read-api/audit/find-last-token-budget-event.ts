import {
  accountStream,
  type TokenBudgetSet,
  type TokenBudgetsOpened,
} from '#domain/accounts/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { firstRevision } from '#infra/event-store/binary-search-events.ts'
import { type ActCursor, listActs } from '#projections/audit-log/query.ts'
import { isAfter, type Moment } from './parse-moment.ts'

type BudgetEvent = Recorded<TokenBudgetSet | TokenBudgetsOpened>

const ACTS = ['token-budget-set', 'token-budgets-opened'] as const
const PAGE = 20

/**
 * Returns the last event up to a moment that set the quota of a token, or null if there is none.
 * The stream of an account is long, because it contains all calls. The event is therefore looked up
 * in the audit log, which lists the changes of each token.
 */
export async function tokenBudgetAsOf(
  deps: Pick<Core, 'store' | 'db'>,
  { userId, tokenId }: { readonly userId: number; readonly tokenId: number },
  moment: Moment | null,
): Promise<BudgetEvent | null> {
  const stream = accountStream(userId)
  const found = await Promise.all(ACTS.map((act) => lastOf(deps, stream, { act, tokenId }, moment)))
  const events = found.filter((event) => event !== null)
  return events.toSorted((a, b) => a.position - b.position).at(-1) ?? null
}

async function lastOf(
  { store, db }: Pick<Core, 'store' | 'db'>,
  stream: string,
  { act, tokenId }: { readonly act: string; readonly tokenId: number },
  moment: Moment | null,
): Promise<BudgetEvent | null> {
  const isAtPosition = moment !== null && 'position' in moment
  // Times in the audit log are whole seconds, so the last entries may be after the moment.
  const to = moment === null || isAtPosition ? undefined : Math.floor(moment.time / 1_000) + 1
  const filter = { act, object: { kind: 'token', id: String(tokenId) }, to }
  let cursor: ActCursor | null = isAtPosition
    ? { position: moment.position + 1, objectId: '' }
    : null
  for (;;) {
    const acts = await listActs(db, filter, cursor, PAGE)
    for (const { position } of acts) {
      const revision = await firstRevision(store, stream, (event) => event.position >= position)
      const [event] = await store.readStream(stream, revision, 1)
      if (event?.position === position && !isAfter(event, moment)) return event as BudgetEvent
    }
    const last = acts.at(-1)
    if (last === undefined || acts.length < PAGE) return null
    cursor = last
  }
}
