import { dayOf } from '#domain/shared/utc-time.ts'
import { onlyUser, onlyUserOfAnyPassword, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { success } from '#infra/http/response-envelope.ts'
import { type WebhookErrorCode, webhookErrorOf } from '#infra/outbound/webhook-checks.ts'
import { codeOfId } from '#infra/vault/id-code.ts'
import { webhookSecret } from '#infra/vault/secret-store.ts'
import { accountsOf } from '#projections/balances/query.ts'
import {
  type NotificationSettingsRow,
  notificationSettingsOf,
} from '#projections/notifications/query.ts'
import { findUser } from '#projections/users/query.ts'
import { userQueries } from '../contract/users.ts'
import { currentOptions } from '../options/current-options.ts'
import { type App, type ReadDeps, upToDate } from '../read-dependencies-and-query-parameters.ts'
import { userResponses } from './list-users.ts'

/** `GET /api/user/self`: the caller's user data and balance. */
export function getSelf(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(userQueries, 'GET /api/user/self'),
    onRequest: onlyUserOfAnyPassword,
    preHandler: upToDate(deps, 'users', 'balances', 'notifications'),
    handler: async (request) => {
      const row = await findUser(deps.core.db, principalOf(request).userId)
      const [user] = row === null ? [] : await userResponses(deps, [row])
      if (row === null || user === undefined) throw httpError('NotLoggedIn')
      const [settings, options] = await Promise.all([
        notificationSettingsOf(deps.core.db, user.id),
        currentOptions(deps.core),
      ])
      const siteThreshold = options.number('QuotaRemindThreshold')
      return success({
        ...user,
        setting: withNotifications(user.setting, settings, {
          siteThreshold,
          error: await storedWebhookErrorOf(deps, user.id, settings),
        }),
        has_password: row.passwordRef !== null,
      })
    },
  })
}

/**
 * Returns the reason why the site can't send warnings to the user's webhook. Returns null if the
 * site can send warnings to the webhook, or if the user gets warnings in another way.
 */
async function storedWebhookErrorOf(
  { core }: Pick<ReadDeps, 'core'>,
  userId: number,
  { means, webhookUrl, webhookSecretRef }: NotificationSettingsRow,
): Promise<WebhookErrorCode | null> {
  if (means !== 'webhook') return null
  return webhookErrorOf(webhookUrl, await webhookSecret(core.vault, userId, webhookSecretRef))
}

/**
 * Returns the JSON text `setting`, which contains a user's other settings, with the notification
 * settings added. Only the user can see the notification settings. The result tells whether the
 * webhook has a secret, but does not contain the secret.
 */
function withNotifications(
  setting: string,
  settings: NotificationSettingsRow,
  { siteThreshold, error }: { siteThreshold: number; error: WebhookErrorCode | null },
): string {
  const { means, threshold, mailTo, webhookUrl, webhookSecretRef } = settings
  return JSON.stringify({
    ...JSON.parse(setting),
    notify_type: means,
    quota_warning_threshold: threshold === null ? siteThreshold : Number(threshold),
    webhook_url: webhookUrl,
    webhook_secret_set: webhookSecretRef !== null,
    ...(error !== null && { webhook_fault: error }),
    notification_email: mailTo,
  })
}

/** `GET /api/user/aff`: the code in the caller's invitation link. This code never changes. */
export function inviteCode(app: App, { core }: ReadDeps): void {
  app.route({
    ...endpoint(userQueries, 'GET /api/user/aff'),
    onRequest: onlyUser,
    handler: async (request) => success(codeOfId(core.vault, principalOf(request).userId)),
  })
}

/**
 * `GET /api/user/check_in_status`: whether the caller can still get the check-in reward of the
 * current UTC day. False if the site has disabled check-ins.
 */
export function checkInStatus(app: App, deps: ReadDeps): void {
  app.route({
    ...endpoint(userQueries, 'GET /api/user/check_in_status'),
    onRequest: onlyUser,
    preHandler: upToDate(deps, 'balances', 'options'),
    handler: async (request) => {
      const { core } = deps
      const { userId } = principalOf(request)
      const account = (await accountsOf(core.db, [userId])).get(userId)
      const isOpen = dayOf(core.now()) > (account?.checkInDay ?? '')
      const options = await currentOptions(core)
      return success({ can_check_in: options.flag('CheckInEnabled') && isOpen })
    },
  })
}
