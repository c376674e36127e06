import { onlyAuditor } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { success } from '#infra/http/response-envelope.ts'
import { listAccounts } from '#projections/users/query.ts'
import { ledgerQueries } from '../contract/ledger.ts'
import {
  type App,
  integerOf,
  type ReadDeps,
  textOf,
  upToDate,
} from '../read-dependencies-and-query-parameters.ts'

const PAGE_SIZE = 20
const PAGE_SIZE_MAX = 100

/**
 * `GET /api/audit/accounts`: the accounts whose ledgers auditors can read, with the names of their
 * users. The response contains no other data of the users.
 */
export function listLedgerAccounts(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(ledgerQueries, 'GET /api/audit/accounts'),
    ...{ onRequest: onlyAuditor, preHandler: upToDate(deps, 'users', 'balances') },
    handler: async ({ query }) => {
      const limit = Math.min(integerOf(query.limit) || PAGE_SIZE, PAGE_SIZE_MAX)
      const keyword = (textOf(query.search) ?? '').trim()
      const before = integerOf(query.cursor)
      const found = await listAccounts(deps.core.db, { keyword, before, limit: limit + 1 })
      const rows = found.slice(0, limit)
      return success({
        items: rows.map(({ userId, username, balance, held }) => ({
          ...{ user_id: userId, username, total: balance + held, balance, held },
        })),
        next_cursor: found.length > limit ? (rows.at(-1)?.userId ?? null) : null,
      })
    },
  })
}
