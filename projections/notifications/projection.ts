import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { NotificationEvent } from '#domain/notifications/events.ts'
import type { UserErased } from '#domain/users/events.ts'
import { projectionOf } from '../projection.ts'

/**
 * Each user's notification settings, with decrypted addresses, and the last warning of low quota.
 */
export const notifications = projectionOf<NotificationEvent | UserErased>({
  name: 'notifications',
  version: 1,
  sql: readFileSync(join(import.meta.dirname, 'table.sql'), 'utf8'),
  tables: { notifications: { key: ['user_id'] } },
  handlers: {
    NotificationsChanged: async ({ data: { userId, settings } }, rows, { open }) => {
      const { means, threshold, mailTo, webhookUrl, webhookSecretRef } = settings
      const cells = {
        means,
        threshold,
        mail_to: mailTo === null ? '' : await open(userId, mailTo),
        webhook_url: webhookUrl === null ? '' : await open(userId, webhookUrl),
        webhook_secret_ref: webhookSecretRef,
      }
      rows.put('notifications', { user_id: userId }, cells)
    },
    QuotaWarned: ({ data }, rows) =>
      rows.put('notifications', { user_id: data.userId }, { warned_at: data.warnedAt }),
    UserErased: ({ data }, rows) => {
      const nothing = { mail_to: '', webhook_url: '', webhook_secret_ref: null }
      rows.put('notifications', { user_id: data.userId }, nothing)
    },
  },
})
