import type { Recomputation, Repricing } from '#write-api/contract/corrections.ts'

const SHOWN_MAX = 100

/**
 * Merges the recomputed charges for two parts of a period. Only the first 100 calls whose charge
 * differs are kept.
 */
export const mergeRecomputations = (all: Recomputation, part: Recomputation): Recomputation => ({
  calls: all.calls + part.calls,
  charged: all.charged + part.charged,
  recomputed: all.recomputed + part.recomputed,
  skipped: all.skipped + part.skipped,
  different: all.different + part.different,
  differences: [...all.differences, ...part.differences].slice(0, SHOWN_MAX),
  next_cursor: part.next_cursor,
})

type Figures = Pick<Repricing, 'calls' | 'charged' | 'drafted' | 'refused'>

/**
 * Merges the results of a what-if computation for two parts of a period. The rows of the same
 * model, group or user are summed up. Of the single calls, only those with the largest differences
 * are kept.
 */
export const mergeRepricings = (all: Repricing, part: Repricing): Repricing => ({
  ...sumOf(all, part),
  models: mergeRows(all.models, part.models, ({ model }) => model),
  groups: mergeRows(all.groups, part.groups, ({ group }) => group),
  users: mergeRows(all.users, part.users, ({ user_id: id }) => String(id)),
  largest: [...all.largest, ...part.largest].sort(byDifference).slice(0, SHOWN_MAX),
  next_cursor: part.next_cursor,
})

const sumOf = (one: Figures, other: Figures): Figures => ({
  calls: one.calls + other.calls,
  charged: one.charged + other.charged,
  drafted: one.drafted + other.drafted,
  refused: one.refused + other.refused,
})

function mergeRows<Row extends Figures>(
  all: readonly Row[],
  part: readonly Row[],
  keyOf: (row: Row) => string,
): Row[] {
  const rows = new Map<string, Row>()
  for (const row of [...all, ...part]) {
    const before = rows.get(keyOf(row))
    rows.set(keyOf(row), before === undefined ? row : { ...row, ...sumOf(before, row) })
  }
  return [...rows.values()].sort(byDifference)
}

type Charged = { readonly charged: number; readonly drafted: number }
const byDifference = (one: Charged, other: Charged): number =>
  Math.abs(other.charged - other.drafted) - Math.abs(one.charged - one.drafted)
