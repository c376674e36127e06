import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { apiQuery, call } from '#console/api/client.ts'
import type { LedgerPage } from '#read-api/contract/ledger.ts'
import { nextCursor } from '../elements/cursor-list.tsx'

/**
 * The account whose ledger is read, by the id of its user. Null is the account of the logged-in
 * user, which is read by separate routes.
 */
export type Account = number | null

/** The filters of a ledger. Times are in unix seconds, and an empty text does not filter. */
export type LedgerParams = { from?: number; to?: number; types: string }

const MOVEMENTS_PER_PAGE = 50

type PageParams = LedgerParams & { cursor: string; limit: number }

/**
 * Reads one page of the movements of an account, which are the changes of its balance, newest
 * first.
 */
export const ledgerPage = (
  account: Account,
  query: PageParams,
  signal: AbortSignal,
): Promise<LedgerPage> =>
  account === null
    ? call('GET /api/ledger/self', { query, signal })
    : call('GET /api/audit/ledger/:userId', { params: { userId: account }, query, signal })

export const ledgerQuery = (account: Account, params: LedgerParams) =>
  infiniteQueryOptions({
    queryKey: ['ledger', account, params],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      ledgerPage(account, { ...params, cursor: pageParam, limit: MOVEMENTS_PER_PAGE }, signal),
    getNextPageParam: (page) => nextCursor(page),
    placeholderData: keepPreviousData,
  })

/**
 * Reads the name of the user to whom the ledger belongs. The query does not depend on the page's
 * filters, so the name stays when they change.
 */
export const ledgerOwnerQuery = (userId: number) =>
  queryOptions({
    queryKey: ['ledger', userId, 'owner'],
    queryFn: async ({ signal }) => {
      const request = { params: { userId }, query: { limit: 1 }, signal }
      return (await call('GET /api/audit/ledger/:userId', request)).username
    },
  })

/**
 * Reads the balance of an account at a point in the history. `at` is an event log position or a
 * time, and an empty text is the present.
 */
export const balanceQuery = (account: Account, at: string) =>
  account === null
    ? apiQuery('GET /api/ledger/self/balance', { query: { at } }, ['balance-at', null, at])
    : apiQuery('GET /api/audit/balance/:userId', { params: { userId: account }, query: { at } }, [
        'balance-at',
        account,
        at,
      ])

/** Reads the calls whose charges were corrected by the movement at a position of the event log. */
export const correctedCallsQuery = (account: Account, position: number) =>
  account === null
    ? apiQuery('GET /api/ledger/self/corrections/:position', { params: { position } }, [
        'corrected-calls',
        null,
        position,
      ])
    : apiQuery(
        'GET /api/audit/ledger/:userId/corrections/:position',
        { params: { userId: account, position } },
        ['corrected-calls', account, position],
      )
