import websocket from '@fastify/websocket'
import type { FastifyInstance } from 'fastify'
import { createGauges } from '#infra/gauges/gauges.ts'
import { createShownBalances } from '#infra/http/shown-balances.ts'
import { createProgress } from '#infra/progress/progress.ts'
import { createProviderMessages } from '#infra/provider-messages/provider-messages.ts'
import { getHealth } from './channels/health/get-health.ts'
import { getHealthHistory } from './channels/health/get-health-history.ts'
import { getTimeline } from './channels/health/get-timeline.ts'
import { HealthBoard } from './channels/health/health-board.ts'
import { listChannelModels } from './channels/list-channel-models.ts'
import { getChannel, listChannelRows } from './channels/list-channels.ts'
import { liveSocket } from './live/live-socket.ts'
import { exportLogs } from './logs/export-logs.ts'
import { listLogs } from './logs/list-logs.ts'
import { logStat } from './logs/log-stat.ts'
import { inboxMessages } from './messages/inbox-messages.ts'
import { sentMessages } from './messages/sent-messages.ts'
import { describeApi } from './openapi.ts'
import { listOptions, optionSchema } from './options/list-options.ts'
import { optionHistory } from './options/option-history.ts'
import { presetRatios } from './options/preset-ratios.ts'
import { priceHistory, priceSchedule } from './options/price-history.ts'
import { getPages } from './pages/get-page.ts'
import { getPricing } from './pricing/get-pricing.ts'
import { type ReadDeps, typed } from './question.ts'
import { countByName, listRedemptionRows } from './redemptions/list-redemptions.ts'
import { getSetup, getStatus } from './status/get-status.ts'

export { pageSources } from './status/page-sources.ts'

import { listTaskRows } from './tasks/list-tasks.ts'
import { getToken, listTokenRows } from './tokens/list-tokens.ts'
import { listOrderRows } from './top-ups/list-orders.ts'
import { latestRelease } from './updates/latest-release.ts'
import { siteUsage } from './usage/site-usage.ts'
import { tokenUsage } from './usage/token-usage.ts'
import { usageData } from './usage/usage-data.ts'
import { getSecurity, listSessions } from './users/get-security.ts'
import { checkInStatus, getSelf, inviteCode } from './users/get-self.ts'
import { listGroups, listUserModels } from './users/list-groups.ts'
import { getUser, listUserRows } from './users/list-users.ts'

/** Every question that can be asked, and the live socket. */
const QUESTIONS = [
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
  getSecurity,
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
  listLogs,
  logStat,
  exportLogs,
  siteUsage,
  tokenUsage,
  usageData,
  inboxMessages,
  sentMessages,
  liveSocket,
  describeApi,
]

export const MESSAGE_BYTES_MAX = 4_096

/** Registers the read side of the management API on the app. */
export async function readApi(
  app: FastifyInstance,
  given: Omit<ReadDeps, 'health' | 'progress' | 'shownBalances' | 'providerMessages'>,
): Promise<void> {
  const health = new HealthBoard(given.core, await createGauges(given.core.pg))
  const progress = await createProgress(given.core.pg)
  const shownBalances = await createShownBalances(given.core.pg, given.core.now)
  const providerMessages = await createProviderMessages(given.core.pg, () => {})
  const parts: ReadDeps = { ...given, health, progress, shownBalances, providerMessages }
  await app.register(websocket, {
    options: { maxPayload: MESSAGE_BYTES_MAX, perMessageDeflate: false },
    // A frame that is too large or none at all is its sender's fault, no line in our log.
    errorHandler: (_error, socket) => socket.terminate(),
  })
  for (const question of QUESTIONS) question(typed(app), parts)
}
