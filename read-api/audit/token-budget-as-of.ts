import {
  accountStream,
  type TokenBudgetSet,
  type TokenBudgetsOpened,
} from '#domain/accounts/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import type { Core } from '#infra/core-dependencies.ts'
import { firstRevision } from '#infra/event-store/binary-search-events.ts'
import { type ActCursor, listActs } from '#projections/audit-log/query.ts'
import { type At, isAfter } from './at-parameter.ts'

type BudgetEvent = Recorded<TokenBudgetSet | TokenBudgetsOpened>

const ACTS = ['token-budget-set', 'token-budgets-opened'] as const
const PAGE = 20

/**
 * Returns the last event until a moment that set the quota of a token, or null. The stream of an
 * account is long, because it contains all calls. The event is therefore found through the audit
 * log, which lists the acts on each token.
 */
export async function tokenBudgetAsOf(
  deps: Pick<Core, 'store' | 'db'>,
  { userId, tokenId }: { readonly userId: number; readonly tokenId: number },
  at: At | null,
): Promise<BudgetEvent | null> {
  const stream = accountStream(userId)
  const found = await Promise.all(ACTS.map((act) => lastOf(deps, stream, { act, tokenId }, at)))
  const events = found.filter((event) => event !== null)
  return events.toSorted((a, b) => a.position - b.position).at(-1) ?? null
}

async function lastOf(
  { store, db }: Pick<Core, 'store' | 'db'>,
  stream: string,
  { act, tokenId }: { readonly act: string; readonly tokenId: number },
  at: At | null,
): Promise<BudgetEvent | null> {
  const isAtPosition = at !== null && 'position' in at
  // Acts have whole seconds, so the last ones may still be after the moment.
  const to = at === null || isAtPosition ? undefined : Math.floor(at.time / 1_000) + 1
  const filter = { act, object: { kind: 'token', id: String(tokenId) }, to }
  let cursor: ActCursor | null = isAtPosition ? { position: at.position + 1, objectId: '' } : null
  for (;;) {
    const acts = await listActs(db, filter, cursor, PAGE)
    for (const { position } of acts) {
      const revision = await firstRevision(store, stream, (event) => event.position >= position)
      const [event] = await store.readStream(stream, revision, 1)
      if (event?.position === position && !isAfter(event, at)) return event as BudgetEvent
    }
    const last = acts.at(-1)
    if (last === undefined || acts.length < PAGE) return null
    cursor = last
  }
}
