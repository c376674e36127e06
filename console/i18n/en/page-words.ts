import type { PageWords } from '../words-type.ts'
import { coupons } from './coupons.ts'
import { dashboard } from './dashboard.ts'
import { logExport } from './log-export.ts'
import { messages } from './messages.ts'
import { orders } from './orders.ts'
import { prices } from './prices.ts'
import { settings } from './settings.ts'
import { taskLogs } from './task-logs.ts'
import { users } from './users.ts'

export const pageWords: PageWords = {
  coupons,
  dashboard,
  logExport,
  messages,
  orders,
  prices,
  settings,
  taskLogs,
  users,
}
