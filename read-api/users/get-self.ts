import Type from 'typebox'
import { dayOf } from '#domain/shared/day.ts'
import { onlyUser, onlyUserOfAnyPassword, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { httpError } from '#infra/http/http-errors.ts'
import { type WebhookErrorCode, webhookErrorOf } from '#infra/outbound/webhook.ts'
import { codeOfId } from '#infra/vault/cipher.ts'
import { webhookSecret } from '#infra/vault/secrets.ts'
import { accountsOf } from '#projections/balances/query.ts'
import { type NotificationsRow, notificationsOf } from '#projections/notifications/query.ts'
import { findUser } from '#projections/users/query.ts'
import { Envelope } from '../contract/envelope.ts'
import { CheckInStatus, User } from '../contract/users.ts'
import { optionsInForce } from '../options/list-options.ts'
import { type App, type ReadDeps, upToDate } from '../question.ts'
import { userAnswers } from './list-users.ts'

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
      if (row === null || user === undefined) throw httpError('NotLoggedIn')
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
): Promise<WebhookErrorCode | null> {
  if (means !== 'webhook') return null
  return webhookErrorOf(webhookUrl, await webhookSecret(core.vault, userId, webhookSecretRef))
}

/**
 * How one is told is one's own to see, and of the webhook's secret only whether there is one. Who
 * said no threshold is warned at the site's.
 */
function withNotifications(
  setting: string,
  own: NotificationsRow,
  { siteThreshold, fault }: { siteThreshold: number; fault: WebhookErrorCode | null },
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

/** `GET /api/user/aff`: the code that one's invite link carries; always the same. */
export function inviteCode(app: App, { core }: ReadDeps): void {
  app.get(
    '/api/user/aff',
    { schema: { response: { 200: Envelope(Type.String()) } }, onRequest: onlyUser },
    async (request) => success(codeOfId(core.vault, principalOf(request).userId)),
  )
}

/** `GET /api/user/check_in_status`: whether today's reward (UTC) is still to be had. */
export function checkInStatus(app: App, deps: ReadDeps): void {
  app.get(
    '/api/user/check_in_status',
    {
      schema: { response: { 200: Envelope(CheckInStatus) } },
      onRequest: onlyUser,
      preHandler: upToDate(deps, 'balances', 'options'),
    },
    async (request) => {
      const { core } = deps
      const { userId } = principalOf(request)
      const account = (await accountsOf(core.db, [userId])).get(userId)
      const isOpen = dayOf(core.now()) > (account?.checkInDay ?? '')
      const options = await optionsInForce(core)
      return success({ can_check_in: options.flag('CheckInEnabled') && isOpen })
    },
  )
}
