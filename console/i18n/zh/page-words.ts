import { coupons } from './coupons.ts'
import { dashboard } from './dashboard.ts'
import { logExport } from './log-export.ts'
import { messages } from './messages.ts'
import { orders } from './orders.ts'
import { prices } from './prices.ts'
import { settings } from './settings.ts'
import { taskLogs } from './task-logs.ts'
import { users } from './users.ts'

/** What a few pages alone need: their words come with them (`needWords`). */
export const pageWords = {
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
