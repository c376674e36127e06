import type { PageWords } from '../i18n.ts'
import { coupons } from './coupons.ts'
import { prices } from './prices.ts'
import { settings } from './settings.ts'
import { taskLogs } from './task-logs.ts'

export const pageWords: PageWords = { coupons, prices, settings, taskLogs }
