import { onlyUserOfAnyPassword, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { fault } from '#infra/http/faults.ts'
import { type WebhookFault, webhookFault } from '#infra/outbound/webhook.ts'
import { webhookSecret } from '#infra/vault/webhook-secret.ts'
import { type NotificationsRow, notificationsOf } from '#projections/notifications/query.ts'
import { findUser } from '#projections/users/query.ts'
import { Envelope } from '../contract/envelope.ts'
import { User } from '../contract/user.ts'
import { optionsInForce } from '../options/options-in-force.ts'
import { type App, type ReadDeps, upToDate } from '../question.ts'
import { userAnswers } from './user-answer.ts'

/** `GET /api/user/self`: one's own user and balance. */
export function getSelf(app: App, deps: ReadDeps): void {
  app.get(
    '/api/user/self',
    {
      schema: { response: { 200: Envelope(User) } },
      onRequest: onlyUserOfAnyPassword,
      preHandler: upToDate(deps, 'users', 'balances', 'notifications'),
    },
    async (request) => {
      const row = await findUser(deps.core.db, principalOf(request).userId)
      const [user] = row === null ? [] : await userAnswers(deps, [row])
      if (row === null || user === undefined) throw fault('NotLoggedIn')
      const [own, options] = await Promise.all([
        notificationsOf(deps.core.db, user.id),
        optionsInForce(deps.core),
      ])
      const siteThreshold = options.number('QuotaRemindThreshold')
      return success({
        ...user,
        setting: withNotifications(user.setting, own, {
          siteThreshold,
          fault: await faultOf(deps, user.id, own),
        }),
        has_password: row.passwordRef !== null,
      })
    },
  )
}

/** What its owner has to mend before a warning can be sent by it. */
async function faultOf(
  { core }: Pick<ReadDeps, 'core'>,
  userId: number,
  { means, webhookUrl, webhookSecretRef }: NotificationsRow,
): Promise<WebhookFault | null> {
  if (means !== 'webhook') return null
  return webhookFault(webhookUrl, await webhookSecret(core.vault, userId, webhookSecretRef))
}

/**
 * How one is told is one's own to see, and of the webhook's secret only whether there is one. Who
 * said no threshold is warned at the site's.
 */
function withNotifications(
  setting: string,
  own: NotificationsRow,
  { siteThreshold, fault }: { siteThreshold: number; fault: WebhookFault | null },
): string {
  const { means, threshold, mailTo, webhookUrl, webhookSecretRef } = own
  return JSON.stringify({
    ...JSON.parse(setting),
    notify_type: means,
    quota_warning_threshold: threshold === null ? siteThreshold : Number(threshold),
    webhook_url: webhookUrl,
    webhook_secret_set: webhookSecretRef !== null,
    ...(fault !== null && { webhook_fault: fault }),
    notification_email: mailTo,
  })
}
