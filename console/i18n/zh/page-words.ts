import { coupons } from './coupons.ts'
import { dashboard } from './dashboard.ts'
import { logExport } from './log-export.ts'
import { prices } from './prices.ts'
import { settings } from './settings.ts'
import { taskLogs } from './task-logs.ts'

/** What a few pages alone need: their words come with them (`needPageWords`). */
export const pageWords = { coupons, dashboard, logExport, prices, settings, taskLogs }
