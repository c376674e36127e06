import { onlyUserOfAnyPassword, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { fault } from '#infra/http/faults.ts'
import { type NotificationsRow, notificationsOf } from '#projections/notifications/query.ts'
import { findUser } from '#projections/users/query.ts'
import { Envelope } from '../contract/envelope.ts'
import { User } from '../contract/user.ts'
import { optionsInForce } from '../options/options-in-force.ts'
import { type App, type ReadParts, upToDate } from '../question.ts'
import { userAnswers } from './user-answer.ts'

/** `GET /api/user/self`: one's own user and balance. */
export function getSelf(app: App, parts: ReadParts): void {
  app.get(
    '/api/user/self',
    {
      schema: { response: { 200: Envelope(User) } },
      onRequest: onlyUserOfAnyPassword,
      preHandler: upToDate(parts, 'users', 'balances', 'notifications'),
    },
    async (request) => {
      const row = await findUser(parts.core.db, principalOf(request).userId)
      const [user] = row === null ? [] : await userAnswers(parts, [row])
      if (row === null || user === undefined) throw fault('NotLoggedIn')
      const [own, options] = await Promise.all([
        notificationsOf(parts.core.db, user.id),
        optionsInForce(parts.core),
      ])
      const siteThreshold = options.number('QuotaRemindThreshold')
      return success({
        ...user,
        setting: withNotifications(user.setting, own, siteThreshold),
        has_password: row.passwordRef !== null,
      })
    },
  )
}

/**
 * How one is told is one's own to see, and of the webhook's secret only whether there is one. Who
 * said no threshold is warned at the site's.
 */
function withNotifications(setting: string, own: NotificationsRow, siteThreshold: number): string {
  const { means, threshold, mailTo, webhookUrl, webhookSecretRef } = own
  return JSON.stringify({
    ...JSON.parse(setting),
    notify_type: means,
    quota_warning_threshold: threshold === null ? siteThreshold : Number(threshold),
    webhook_url: webhookUrl,
    webhook_secret_set: webhookSecretRef !== null,
    notification_email: mailTo,
  })
}
