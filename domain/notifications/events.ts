import type { Fact, Sealed } from '../shared/event.ts'
import type { WireQuota } from '../shared/quota.ts'

export const notificationsStream = (userId: number): string => `notifications-${userId}`

export type NotifyMeans = 'email' | 'webhook'

export type NotificationSettings = {
  readonly means: NotifyMeans
  /**
   * The balance below which the user is warned. With 0, the user is never warned. With null, the
   * site's threshold applies.
   */
  readonly threshold: WireQuota | null
  /**
   * The email address for warnings. If it is null, warnings are sent to the address that is bound
   * to the account.
   */
  readonly mailTo: Sealed | null
  readonly webhookUrl: Sealed | null
  /** The vault reference of the secret that signs webhooks. */
  readonly webhookSecretRef: string | null
}

export type NotificationsChanged = Fact<
  'NotificationsChanged',
  { readonly userId: number; readonly settings: NotificationSettings }
>

/**
 * The user was warned about the remaining quota through the listed notification methods. The event
 * is written before the warning is sent.
 */
export type QuotaWarned = Fact<
  'QuotaWarned',
  {
    readonly userId: number
    readonly means: NotifyMeans
    readonly remaining: WireQuota
    readonly threshold: WireQuota
    /** The time of the warning in unix milliseconds. */
    readonly warnedAt: number
  }
>

export type NotificationEvent = NotificationsChanged | QuotaWarned
