import { describe } from 'vitest'
import { notificationsDecider } from '#domain/notifications/decide.ts'
import type { NotificationSettings } from '#domain/notifications/events.ts'
import type { Sealed } from '#domain/shared/event.ts'
import type { WireQuota } from '#domain/shared/quota.ts'
import { story } from './story.ts'

const settings: NotificationSettings = {
  means: 'webhook',
  threshold: 100_000 as WireQuota,
  mailTo: 'sealed:mail' as Sealed,
  webhookUrl: 'sealed:url' as Sealed,
  webhookSecretRef: 'key-6',
}
const warning = { means: 'webhook', remaining: 99_999n, threshold: 100_000n } as const
const warnedAt = 1_800_000_000_000

describe('the events of notifications, as first recorded', () => {
  story(
    'settings, and a warning',
    notificationsDecider,
    [
      ['notifications-changed-v1', { type: 'ChangeNotifications', userId: 7, settings }],
      ['quota-warned-v1', { type: 'WarnOfQuota', userId: 7, ...warning, at: warnedAt }],
    ],
    { settings, warnedAt },
  )
})
