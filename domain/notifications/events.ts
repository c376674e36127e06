import type { Fact, Sealed } from '../shared/event.ts'
import type { WireQuota } from '../shared/quota.ts'

export const notificationsStream = (userId: number): string => `notifications-${userId}`

export type NotifyMeans = 'email' | 'webhook'

export type NotificationSettings = {
  readonly means: NotifyMeans
  /**
   * The user is warned when the balance falls below this; 0 means never, null the site's threshold.
   */
  readonly threshold: WireQuota | null
  /** null means the email address that is bound to the account. */
  readonly mailTo: Sealed | null
  readonly webhookUrl: Sealed | null
  /** The vault reference of the secret that signs webhooks. */
  readonly webhookSecretRef: string | null
}

export type NotificationsChanged = Fact<
  'NotificationsChanged',
  { readonly userId: number; readonly settings: NotificationSettings }
>

/** The user is about to be notified by these means of the remaining quota. */
export type QuotaWarned = Fact<
  'QuotaWarned',
  {
    readonly userId: number
    readonly means: NotifyMeans
    readonly remaining: WireQuota
    readonly threshold: WireQuota
    /** Unix milliseconds. */
    readonly warnedAt: number
  }
>

export type NotificationEvent = NotificationsChanged | QuotaWarned
