import type { Core } from '#infra/core.ts'
import { budgetsOf } from '#projections/balances/query.ts'
import { touchedTokens } from '#projections/tokens/query.ts'
import type { LiveMessage } from '../contract/live.ts'
import { tokenState } from '../tokens/list-tokens.ts'
import type { LiveItem } from './ring.ts'

type Wanted = { readonly after: number; readonly upTo: number; readonly userId?: number }

/** Tokens that were changed or used in between, as they are now: for their owners alone. */
export async function tokenItems(core: Core, wanted: Wanted): Promise<LiveItem[]> {
  const rows = await touchedTokens(core.db, wanted)
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  const budgets = await budgetsOf(core.db, ids)
  const now = Math.floor(core.now() / 1_000)
  return rows.map((row) => {
    const { id, userId, position, isDeleted } = row
    const message: LiveMessage = {
      type: 'event',
      topic: 'tokens',
      position,
      data: isDeleted ? { id, deleted: true } : tokenState(row, budgets.get(id), now),
    }
    const text = JSON.stringify(message)
    return { topic: 'tokens', position, ownerId: userId, isPrivate: true, textFor: () => text }
  })
}
