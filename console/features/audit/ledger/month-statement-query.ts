import { queryOptions } from '@tanstack/react-query'
import { call } from '#console/api/client.ts'
import type { LedgerItem, Statement } from '#read-api/contract/ledger.ts'
import { daysOfMonth } from '../elements/utc-month.tsx'
import { type Account, ledgerPage } from './ledger-queries.ts'

/**
 * The maximum number of calls in a month that are listed one by one. If there are more calls, each
 * line is the sum of all calls to one model on one day.
 */
const SINGLE_CALLS_MAX = 500
const ITEMS_PER_PAGE = 100
const DAY = 86_400

/** The sum of all calls of one day (UTC) to one model. */
type CallSum = Statement['calls'][number]

/**
 * A line of a statement: one movement, or a sum of calls. `running` is the account's total after
 * this line.
 */
export type StatementLine = { readonly running: number } & (
  | { readonly item: LedgerItem }
  | { readonly sum: CallSum }
)

export type CompleteStatement = {
  readonly statement: Statement
  /** The lines, oldest first. The `running` total of the last line is the closing total. */
  readonly lines: readonly StatementLine[]
  /**
   * The number of calls in the month if `lines` sums up the calls by day and model. The number is
   * null if each call has a separate line.
   */
  readonly summedCalls: number | null
}

/** Reads the statement of an account for one month. The movements are read page by page. */
export const statementQuery = (account: Account, month: string) =>
  queryOptions({
    queryKey: ['statement', account, month],
    queryFn: ({ signal }) => readStatement(account, month, signal),
  })

async function readStatement(
  account: Account,
  month: string,
  signal: AbortSignal,
): Promise<CompleteStatement> {
  const query = { month, limit: ITEMS_PER_PAGE }
  const statement =
    account === null
      ? await call('GET /api/ledger/self/statement', { query, signal })
      : await call('GET /api/audit/statement/:userId', {
          ...{ params: { userId: account }, query, signal },
        })
  const calls = statement.calls.reduce((sum, { count }) => sum + count, 0)
  const isSummed = calls > SINGLE_CALLS_MAX
  const newest = statement.items[0]?.position ?? 0
  const items = isSummed
    ? await readOtherItems(account, statement, newest + 1, signal)
    : [
        ...statement.items,
        ...(await readItems(account, month, { cursor: statement.next_cursor, types: '' }, signal)),
      ]
  return {
    statement,
    lines: linesOf(statement, items.toReversed(), isSummed ? statement.calls : []),
    summedCalls: isSummed ? calls : null,
  }
}

/**
 * Reads the movements of a month that belong to no call. The types of these movements come from the
 * sums in the statement, so that types that this console does not know are included.
 */
async function readOtherItems(
  account: Account,
  { month, by_type: sums }: Statement,
  cursor: number,
  signal: AbortSignal,
): Promise<LedgerItem[]> {
  const types = sums.flatMap(({ type }) => (type === 'call' ? [] : [type])).join(',')
  // Without a type, the server would return the movements of all types.
  return types === '' ? [] : await readItems(account, month, { cursor, types }, signal)
}

/**
 * Reads all pages of the movements of a month, starting at a cursor. Returns the movements newest
 * first.
 */
async function readItems(
  account: Account,
  month: string,
  start: { readonly cursor: number | null; readonly types: string },
  signal: AbortSignal,
): Promise<LedgerItem[]> {
  const { first, last } = daysOfMonth(month)
  const period = { from: Date.parse(first) / 1_000, to: Date.parse(last) / 1_000 + DAY }
  const items: LedgerItem[] = []
  for (let { cursor } = start; cursor !== null; ) {
    const query = { ...period, types: start.types, cursor: String(cursor), limit: ITEMS_PER_PAGE }
    const page = await ledgerPage(account, query, signal)
    items.push(...page.items)
    cursor = page.next_cursor
  }
  return items
}

/**
 * Returns the lines of a statement: movements and daily sums of calls (both oldest first), each
 * with the account's total after the line. The sums of a day follow the other movements of that
 * day.
 */
function linesOf(
  { opening }: Statement,
  items: readonly LedgerItem[],
  sums: readonly CallSum[],
): StatementLine[] {
  const lines: StatementLine[] = []
  let running = opening.total
  const remainingSums = [...sums]
  const addSumsBefore = (time: number): void => {
    for (
      let sum = remainingSums[0];
      sum !== undefined && sum.day + DAY <= time;
      sum = remainingSums[0]
    ) {
      remainingSums.shift()
      running += sum.amount
      lines.push({ sum, running })
    }
  }
  for (const item of items) {
    addSumsBefore(item.created_at)
    running += item.amount
    lines.push({ item, running })
  }
  addSumsBefore(Number.POSITIVE_INFINITY)
  return lines
}
