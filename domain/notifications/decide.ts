import type { CodedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import { isSame } from '../shared/deep-equal.ts'
import { type Quota, toWire } from '../shared/quota.ts'
import type { NotificationEvent, NotificationSettings, NotifyMeans } from './events.ts'

type ChangeNotifications = {
  readonly type: 'ChangeNotifications'
  readonly userId: number
  readonly settings: NotificationSettings
}

/** Warns a user of low quota. `at` is the current time in Unix milliseconds. */
type WarnOfQuota = {
  readonly type: 'WarnOfQuota'
  readonly userId: number
  readonly means: NotifyMeans
  readonly remaining: Quota
  readonly threshold: Quota
  readonly at: number
}

type NotificationsState = {
  readonly settings: NotificationSettings
  /** The time of the last warning in Unix milliseconds, or 0. */
  readonly warnedAt: number
}

/** The minimum time between two low-quota warnings of a user, in milliseconds. */
export const WARNING_PAUSE_MS = 2 * 3_600_000

export const DEFAULT_NOTIFICATIONS: NotificationSettings = Object.freeze({
  means: 'email',
  threshold: null,
  mailTo: null,
  webhookUrl: null,
  webhookSecretRef: null,
})

export const notificationsDecider: Decider<
  NotificationsState,
  ChangeNotifications | WarnOfQuota,
  NotificationEvent,
  CodedError<never>
> = {
  initialState: () => ({ settings: DEFAULT_NOTIFICATIONS, warnedAt: 0 }),
  decide: (command, state) => {
    const { type: _type, ...data } = command
    if ('settings' in data) {
      if (isSame(data.settings, state.settings)) return []
      return [{ type: 'NotificationsChanged', v: 1, data }]
    }
    const { at, remaining, threshold, ...facts } = data
    if (state.warnedAt > 0 && at < state.warnedAt + WARNING_PAUSE_MS) return []
    const amounts = { remaining: toWire(remaining), threshold: toWire(threshold) }
    return [{ type: 'QuotaWarned', v: 1, data: { ...facts, ...amounts, warnedAt: at } }]
  },
  evolve: (state, event) =>
    event.type === 'QuotaWarned'
      ? { ...state, warnedAt: event.data.warnedAt }
      : { ...state, settings: event.data.settings },
}
