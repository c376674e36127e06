import { auditLog } from './audit-log/projection.ts'
import { balances } from './balances/projection.ts'
import { providerMismatches } from './calls-with-other-model-or-cost/projection.ts'
import { channelChecks } from './channel-checks/projection.ts'
import { channelHealth } from './channel-health/projection.ts'
import { channelStats } from './channel-stats/projection.ts'
import { channelTimeline } from './channel-timeline/projection.ts'
import { channels } from './channels/projection.ts'
import { correctedCalls } from './corrected-calls/projection.ts'
import { credentials } from './credentials/projection.ts'
import { ledger } from './ledger/projection.ts'
import { callLog } from './logs/projection.ts'
import { messages } from './messages/projection.ts'
import { notifications } from './notifications/projection.ts'
import { openBatchesProjection } from './open-batches/projection.ts'
import { openCallsProjection } from './open-calls/projection.ts'
import { openTasksProjection } from './open-tasks/projection.ts'
import { optionChanges } from './option-changes/projection.ts'
import { options } from './options/projection.ts'
import { priceHistory } from './price-history/projection.ts'
import { priceSchedule } from './price-schedule/projection.ts'
import type { Projection } from './projection.ts'
import { reconciliation } from './reconciliation/projection.ts'
import { redemptions } from './redemptions/projection.ts'
import { tasks } from './tasks/projection.ts'
import { tokens } from './tokens/projection.ts'
import { orders } from './top-ups/projection.ts'
import { usageByHour } from './usage/projection.ts'
import { users } from './users/projection.ts'

/** All projections. A new projection consists of a folder and an entry in this list. */
export const PROJECTIONS: readonly Projection[] = [
  users,
  credentials,
  tokens,
  redemptions,
  channels,
  channelChecks,
  options,
  optionChanges,
  priceHistory,
  priceSchedule,
  balances,
  ledger,
  auditLog,
  notifications,
  messages,
  orders,
  tasks,
  callLog,
  usageByHour,
  openCallsProjection,
  openTasksProjection,
  openBatchesProjection,
  channelHealth,
  channelStats,
  channelTimeline,
  providerMismatches,
  reconciliation,
  correctedCalls,
]
