import { expect, it } from 'vitest'
import {
  DEFAULT_NOTIFICATIONS,
  notificationsDecider,
  WARNING_PAUSE_MS,
} from '#domain/notifications/decide.ts'
import type { NotificationEvent } from '#domain/notifications/events.ts'
import type { WireQuota } from '#domain/shared/quota.ts'
import { specificationOf } from '#test/support/given-when-then.ts'

const { given } = specificationOf(notificationsDecider)
const NOW = 1_800_000_000_000

const warn = (at: number) =>
  ({ type: 'WarnOfQuota', userId: 7, means: 'email', remaining: -5n, threshold: 9n, at }) as const
const warned = (warnedAt: number): NotificationEvent => ({
  type: 'QuotaWarned',
  v: 1,
  data: {
    userId: 7,
    means: 'email',
    remaining: -5 as WireQuota,
    threshold: 9 as WireQuota,
    warnedAt,
  },
})

it('a quota warning is sent at most once in two hours, even if the clock goes back', () => {
  given()
    .when(warn(NOW))
    .then([warned(NOW)])
  const after = given(warned(NOW))
  after.when(warn(NOW)).then([])
  after.when(warn(NOW + WARNING_PAUSE_MS - 1)).then([])
  after.when(warn(NOW - WARNING_PAUSE_MS)).then([])
  const later = NOW + WARNING_PAUSE_MS
  after.when(warn(later)).then([warned(later)])
})

it('an update without a difference does not change the notification settings', () => {
  const same = { type: 'ChangeNotifications', userId: 7, settings: DEFAULT_NOTIFICATIONS } as const
  given().when(same).then([])
  const settings = { ...DEFAULT_NOTIFICATIONS, threshold: 0 as WireQuota }
  const changed = given().when({ ...same, settings })
  expect(changed.after.settings.threshold).toBe(0)
})
