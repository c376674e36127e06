import type { Fact, Sealed } from '../shared/event.ts'
import type { WireQuota } from '../shared/quota.ts'

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
