import type { Fact, Sealed } from '../shared/event.ts'
import type { WireQuota } from '../shared/quota.ts'

export const notificationsStream = (userId: number): string => `notifications-${userId}`

export type NotifyMeans = 'email' | 'webhook'

export type NotificationSettings = {
  readonly means: NotifyMeans
  /** Warned below it; 0 never; null as the site has it. */
  readonly threshold: WireQuota | null
  /** null: to the address that is bound to the account. */
  readonly mailTo: Sealed | null
  readonly webhookUrl: Sealed | null
  /** Vault reference of what webhooks are signed with. */
  readonly webhookSecretRef: string | null
}

export type NotificationsChanged = Fact<
  'NotificationsChanged',
  { readonly userId: number; readonly settings: NotificationSettings }
>

/** The user is about to be told, by these means, what is left. */
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
