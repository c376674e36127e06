import type { PageWords } from '../i18n.ts'
import { prices } from './prices.ts'
import { settings } from './settings.ts'
import { taskLogs } from './task-logs.ts'

export const pageWords: PageWords = { prices, settings, taskLogs }
