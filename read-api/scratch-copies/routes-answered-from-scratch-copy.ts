import { exportAuditLog, listAuditLog } from '../audit/audit-log.ts'
import { countOtherModels, listMismatchedCalls } from '../audit/calls-with-other-model-or-cost.ts'
import { exportLedger } from '../audit/export-ledger.ts'
import { getCall } from '../audit/get-call.ts'
import {
  getBalanceAt,
  getSiteMonth,
  getStatement,
  listLedger,
} from '../audit/ledger-statement-and-balance-routes.ts'
import { listLedgerAccounts } from '../audit/list-accounts.ts'
import { getPrices, getState, listEvents } from '../audit/time-travel-routes.ts'
import { getTimeline } from '../channels/health/get-channel-timeline.ts'
import { getHealth, getHealthHistory } from '../channels/health/get-health-and-history.ts'
import {
  getChannel,
  listChannelModels,
  listChannelRows,
} from '../channels/list-channels-and-models.ts'
import { exportLogs } from '../logs/export-logs.ts'
import { logStat } from '../logs/get-log-stat.ts'
import { listLogs } from '../logs/list-logs.ts'
import {
  listOptions,
  optionHistory,
  priceHistory,
  priceSchedule,
} from '../options/option-routes.ts'
import { getPricing } from '../pricing/get-pricing.ts'
import { listPriceUnits } from '../pricing/list-price-units.ts'
import type { App, ReadDeps } from '../read-dependencies-and-query-parameters.ts'
import { countByName, listRedemptionRows } from '../redemptions/list-redemptions.ts'
import { listTaskRows } from '../tasks/list-tasks.ts'
import { getToken, listTokenRows } from '../tokens/list-tokens.ts'
import { listOrderRows } from '../top-ups/list-orders.ts'
import { dailyUsageByToken, siteUsage, usageData } from '../usage/usage-routes.ts'
import { listGroups } from '../users/list-groups-and-callable-models.ts'
import { getUser, listUserRows } from '../users/list-users.ts'

/**
 * The routes that are answered from a scratch copy. These routes use only read models and events.
 */
const ROUTES = [
  listLedgerAccounts,
  listAuditLog,
  exportAuditLog,
  listLedger,
  exportLedger,
  getStatement,
  getBalanceAt,
  getSiteMonth,
  getState,
  getPrices,
  listEvents,
  getCall,
  listMismatchedCalls,
  countOtherModels,
  listLogs,
  logStat,
  exportLogs,
  siteUsage,
  dailyUsageByToken,
  usageData,
  listUserRows,
  getUser,
  listGroups,
  listChannelRows,
  getChannel,
  getTimeline,
  getHealth,
  getHealthHistory,
  listChannelModels,
  listTokenRows,
  getToken,
  listRedemptionRows,
  countByName,
  listOrderRows,
  listTaskRows,
  listOptions,
  optionHistory,
  priceHistory,
  priceSchedule,
  listPriceUnits,
  getPricing,
]

/**
 * The routes that the live site answers even if a request names a scratch copy. These routes return
 * data of the caller or of the live site, static descriptions, or proofs.
 */
export const LIVE_ROUTES: ReadonlySet<string> = new Set([
  'GET /api/status',
  'GET /api/setup',
  'GET /api/notice',
  'GET /api/about',
  'GET /api/home_page_content',
  'GET /api/openapi.json',
  'GET /api/user/self',
  'GET /api/user/self/groups',
  'GET /api/user/models',
  'GET /api/user/messages/unread_count',
  'GET /api/option/schema',
  'GET /api/channel/types',
  'GET /api/audit/scratch-copies',
  'GET /api/audit/receipts',
  'GET /api/audit/receipts/:requestId',
  'GET /api/audit/signed-checkpoints',
  'GET /api/audit/checkpoints',
  'GET /api/transparency-log/status',
])

/**
 * Handles a request like the handler of the live route, but with the dependencies of a scratch
 * copy.
 */
export type CopyHandler = (request: never, reply: never) => unknown

/**
 * Returns the handlers of the routes that a scratch copy answers. The keys are `METHOD /path`. The
 * handlers read from `deps`, so pass the dependencies of the copy to answer requests from the copy.
 */
export function scratchCopyHandlers(deps: ReadDeps): ReadonlyMap<string, CopyHandler> {
  const handlers = new Map<string, CopyHandler>()
  const collector = {
    route: ({ method, url, handler }: { method: string; url: string; handler: CopyHandler }) => {
      handlers.set(`${method} ${url}`, handler)
    },
  }
  for (const route of ROUTES) route(collector as unknown as App, deps)
  return handlers
}
