import type { CodedError } from '../shared/coded-error.ts'
import type { Decider } from '../shared/decider.ts'
import { isSame } from '../shared/deep-equal.ts'
import type { Fact, Sealed } from '../shared/event.ts'
import { type Quota, toWire, type WireQuota } from '../shared/quota.ts'

export const notificationsStream = (userId: number): string => `notifications-${userId}`

export type NotifyMeans = 'email' | 'webhook'

export type NotificationSettings = {
  readonly means: NotifyMeans
  /**
   * The user is warned if the balance is below this value. 0 means never, and null means the site's
   * threshold.
   */
  readonly threshold: WireQuota | null
  /** The email address for warnings, or null for the address that is bound to the account. */
  readonly mailTo: Sealed | null
  readonly webhookUrl: Sealed | null
  readonly webhookSecretRef: string | null
}

export type NotificationsChanged = Fact<
  'NotificationsChanged',
  { readonly userId: number; readonly settings: NotificationSettings }
>

/**
 * A warning of low quota is about to be sent to the user. The event is written before the warning
 * is sent.
 */
export type QuotaWarned = Fact<
  'QuotaWarned',
  {
    readonly userId: number
    readonly means: NotifyMeans
    readonly remaining: WireQuota
    readonly threshold: WireQuota
    /** The time of the warning in Unix milliseconds. */
    readonly warnedAt: number
  }
>

export type NotificationEvent = NotificationsChanged | QuotaWarned

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
