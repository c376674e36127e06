import type { EventEmitter } from 'node:events'
import type { Server } from 'node:http'
import websocket from '@fastify/websocket'
import type { FastifyInstance } from 'fastify'
import {
  createShownBalances,
  createShownBudgets,
} from '#infra/http/remember-shown-balances-and-budgets.ts'
import { createProviderMessages } from '#infra/provider-messages/store-provider-error-messages.ts'
import { createTaskProgress } from '#infra/task-progress/store-task-progress.ts'
import { createGauges } from '#infra/telemetry/gauges-of-all-processes.ts'
import { exportAuditLog, listAuditLog } from './audit/audit-log.ts'
import { countOtherModels, listMismatchedCalls } from './audit/calls-with-other-model-or-cost.ts'
import { listCorrectedCalls, listCorrections } from './audit/corrections.ts'
import { exportEvents } from './audit/export-events.ts'
import { exportLedger } from './audit/export-ledger.ts'
import { getCall } from './audit/get-call.ts'
import {
  getBalanceAt,
  getSiteMonth,
  getStatement,
  listLedger,
} from './audit/ledger-statement-and-balance-routes.ts'
import { listLedgerAccounts } from './audit/list-accounts.ts'
import { listRebuilds, listVerifications } from './audit/list-verifications-and-rebuilds.ts'
import { getMargins } from './audit/margins.ts'
import { providerInvoiceRoutes } from './audit/provider-invoices.ts'
import { getCallReceipts, getEventReceipt, listOwnReceipts } from './audit/receipts.ts'
import { getPrices, getState, listEvents } from './audit/time-travel-routes.ts'
import {
  answerAsWitness,
  getLogStatus,
  listSignedCheckpoints,
  serveEntries,
  serveTiles,
} from './audit/transparency-log.ts'
import { getTimeline } from './channels/health/get-channel-timeline.ts'
import { getHealth, getHealthHistory } from './channels/health/get-health-and-history.ts'
import { HealthCache } from './channels/health/health-cache.ts'
import {
  getChannel,
  listChannelModels,
  listChannelRows,
} from './channels/list-channels-and-models.ts'
import { liveSocket } from './live/live-socket.ts'
import { exportLogs } from './logs/export-logs.ts'
import { logStat } from './logs/get-log-stat.ts'
import { listLogs } from './logs/list-logs.ts'
import { inboxMessages, sentMessages } from './messages/message-routes.ts'
import { describeApi } from './openapi.ts'
import {
  listOptions,
  optionHistory,
  optionSchema,
  priceHistory,
  priceSchedule,
} from './options/option-routes.ts'
import { presetRatios } from './options/preset-ratios.ts'
import { getPricing } from './pricing/get-pricing.ts'
import { listPriceUnits } from './pricing/list-price-units.ts'
import { createPriceUnitReader } from './pricing/price-unit-reader.ts'
import { type ReadDeps, withTypes } from './read-dependencies-and-query-parameters.ts'
import { countByName, listRedemptionRows } from './redemptions/list-redemptions.ts'
import { listScratchCopies } from './scratch-copies/list-scratch-copies.ts'
import { serveScratchCopies } from './scratch-copies/serve-scratch-copies.ts'
import { getPages, getSetup, getStatus } from './status/get-status-setup-and-pages.ts'
import { listTaskRows } from './tasks/list-tasks.ts'
import { getToken, listTokenRows } from './tokens/list-tokens.ts'
import { listOrderRows } from './top-ups/list-orders.ts'
import { latestRelease } from './updates/latest-release.ts'
import { dailyUsageByToken, siteUsage, usageData } from './usage/usage-routes.ts'
import { getCredentials, listSessions } from './users/get-credentials-and-sessions.ts'
import { checkInStatus, getSelf, inviteCode } from './users/get-self-invite-code-and-check-in.ts'
import { listGroups, listUserModels } from './users/list-groups-and-callable-models.ts'
import { getUser, listUserRows } from './users/list-users.ts'

export { pageSources } from './status/content-security-sources.ts'

const ROUTES = [
  listVerifications,
  listRebuilds,
  listScratchCopies,
  exportEvents,
  listAuditLog,
  exportAuditLog,
  listLedgerAccounts,
  listLedger,
  exportLedger,
  getStatement,
  getBalanceAt,
  getSiteMonth,
  getLogStatus,
  listSignedCheckpoints,
  serveTiles,
  serveEntries,
  answerAsWitness,
  getStatus,
  getSetup,
  getPages,
  getPricing,
  getSelf,
  inviteCode,
  checkInStatus,
  listUserModels,
  listGroups,
  listUserRows,
  getUser,
  getCredentials,
  listSessions,
  listChannelModels,
  getHealth,
  getHealthHistory,
  getTimeline,
  listChannelRows,
  getChannel,
  listTokenRows,
  getToken,
  listOrderRows,
  listTaskRows,
  listRedemptionRows,
  countByName,
  listOptions,
  optionSchema,
  optionHistory,
  latestRelease,
  presetRatios,
  priceHistory,
  priceSchedule,
  listPriceUnits,
  listLogs,
  logStat,
  exportLogs,
  getCall,
  getCallReceipts,
  getEventReceipt,
  listOwnReceipts,
  listMismatchedCalls,
  countOtherModels,
  getState,
  getPrices,
  listEvents,
  listCorrections,
  listCorrectedCalls,
  providerInvoiceRoutes,
  getMargins,
  siteUsage,
  dailyUsageByToken,
  usageData,
  inboxMessages,
  sentMessages,
  liveSocket,
  describeApi,
]

export const MESSAGE_BYTES_MAX = 4_096

type OwnDeps = Pick<
  ReadDeps,
  | 'health'
  | 'progress'
  | 'shownBalances'
  | 'shownBudgets'
  | 'providerMessages'
  | 'readPriceUnits'
  | 'site'
>

/** Registers the read routes and the live socket of the management API. */
export async function registerReadApi(
  app: FastifyInstance,
  {
    upgrades,
    ...apiDeps
  }: Omit<ReadDeps, keyof OwnDeps> & {
    /**
     * Emits `upgrade` for each request for a WebSocket. The default is the HTTP server of the app.
     */
    readonly upgrades?: EventEmitter
  },
): Promise<void> {
  const { core } = apiDeps
  const ownDeps: OwnDeps = {
    health: new HealthCache(core, await createGauges(core.pg)),
    progress: await createTaskProgress(core.pg),
    shownBalances: await createShownBalances(core),
    shownBudgets: await createShownBudgets(core),
    providerMessages: await createProviderMessages(core.pg, () => {}),
    readPriceUnits: createPriceUnitReader({ ...apiDeps, db: core.db }),
    site: core,
  }
  const deps: ReadDeps = { ...apiDeps, ...ownDeps }
  await app.register(websocket, {
    options: {
      ...{ maxPayload: MESSAGE_BYTES_MAX, perMessageDeflate: false },
      // NOTE: The WebSocket plugin uses only the event `upgrade` of this server.
      ...(upgrades === undefined ? {} : { server: upgrades as Server }),
    },
    // Invalid or oversized frames and lost connections cause errors of sockets. These errors are
    // not logged, because clients can cause them at any time. Exceptions of a route's handler would
    // come here too, but `closeSocketOnException` catches and logs them before.
    errorHandler: (_error, socket) => socket.terminate(),
  })
  serveScratchCopies(app, deps)
  for (const route of ROUTES) route(withTypes(app), deps)
}
