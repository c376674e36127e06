import type { Words } from '../i18n.ts'
import { channels } from './channels.ts'
import { commands } from './commands.ts'
import { dashboard } from './dashboard.ts'
import { entryWords } from './entry-words.ts'
import { settings } from './settings.ts'
import { tokens } from './tokens.ts'
import { usageLog } from './usage-log.ts'

/** One line per area. */
export const en: Words = {
  ...entryWords,
  commands,
  tokens,
  channels,
  settings,
  dashboard,
  usageLog,
}
