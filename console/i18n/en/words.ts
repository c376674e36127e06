import type { SharedWords } from '../words-type.ts'
import { channelForm } from './channel-form.ts'
import { channelTags } from './channel-tags.ts'
import { channelTests } from './channel-tests.ts'
import { channels } from './channels.ts'
import { commands } from './commands.ts'
import { entryWords } from './entry-words.ts'
import { health } from './health.ts'
import { inbox } from './inbox.ts'
import { me } from './me.ts'
import { playground } from './playground.ts'
import { security } from './security.ts'
import { timeRange } from './time-range.ts'
import { tokens } from './tokens.ts'
import { usageLog } from './usage-log.ts'
import { wallet } from './wallet.ts'

/** One line per area. */
export const en: SharedWords = {
  ...entryWords,
  commands,
  tokens,
  channels,
  channelForm,
  channelTags,
  channelTests,
  health,
  inbox,
  me,
  security,
  timeRange,
  usageLog,
  playground,
  wallet,
}
