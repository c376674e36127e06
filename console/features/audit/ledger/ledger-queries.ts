import { queryOptions } from '@tanstack/react-query'
import { apiQuery, call } from '#console/api/client.ts'
import type { LedgerPage } from '#read-api/contract/ledger.ts'
import { cursorQuery } from '../elements/cursor-list.tsx'

/**
 * The user id of the account whose ledger is read, or null for the account of the logged-in user.
 * Separate routes read the logged-in user's account.
 */
export type Account = number | null

/**
 * The filters of a ledger. `from` and `to` are in Unix seconds. `types` lists the types of
 * movements, and an empty text selects all types. `at` is the point in the history at which the
 * ledger ends: a position of the event log or a time. An empty text means the present.
 */
export type LedgerParams = { from?: number; to?: number; types: string; at?: string }

const MOVEMENTS_PER_PAGE = 50

type PageParams = LedgerParams & { cursor: string; limit: number }

/**
 * Reads one page of the movements of an account, newest first. A movement is a change of the
 * account's balance.
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
  cursorQuery(['ledger', account, params], (cursor, signal) =>
    ledgerPage(account, { ...params, cursor, limit: MOVEMENTS_PER_PAGE }, signal),
  )

/**
 * Reads the name of the owner of a ledger. This query does not depend on the filters of the page,
 * so that the name stays visible when the filters change.
 */
export const ledgerOwnerQuery = (userId: number) =>
  queryOptions({
    queryKey: ['ledger', userId, 'owner'],
    queryFn: async ({ signal }) => {
      const request = { params: { userId }, query: { limit: 1 }, signal }
      return (await call('GET /api/audit/ledger/:userId', request)).username
    },
  })

const ACCOUNTS_PER_PAGE = 10

/** Reads the accounts of users, newest first. `search` is a user id or a part of a username. */
export const accountsQuery = (search: string) =>
  cursorQuery(['ledger', 'accounts', search], (cursor, signal) => {
    const query = { search, cursor, limit: ACCOUNTS_PER_PAGE }
    return call('GET /api/audit/accounts', { query, signal })
  })

/**
 * Reads the balance of an account at a point in the history. `at` is a position of the event log, a
 * time, or an empty text for the present.
 */
export const balanceQuery = (account: Account, at: string) =>
  account === null
    ? apiQuery('GET /api/ledger/self/balance', { query: { at } }, ['balance-at', null, at])
    : apiQuery('GET /api/audit/balance/:userId', { params: { userId: account }, query: { at } }, [
        'balance-at',
        account,
        at,
      ])

/**
 * Reads the calls whose charges were corrected by one movement. `position` is the event log
 * position of this movement.
 */
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
