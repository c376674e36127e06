import { type CommonQueryMethods, sql } from 'slonik'
import Type from 'typebox'
import { nullable, quota, type RowOf, rowType, wireInteger } from '#infra/postgres/row-types.ts'

const settingsRow = rowType({
  means: Type.Enum(['email', 'webhook']),
  /**
   * The user is warned if the remaining quota is below this value. null means the site's default.
   */
  threshold: nullable(quota),
  mailTo: Type.String(),
  webhookUrl: Type.String(),
  webhookSecretRef: nullable(Type.String()),
})
export type NotificationSettingsRow = RowOf<typeof settingsRow>

const UNSET: NotificationSettingsRow = {
  means: 'email',
  threshold: null,
  mailTo: '',
  webhookUrl: '',
  webhookSecretRef: null,
}

export async function notificationSettingsOf(
  db: CommonQueryMethods,
  userId: number,
): Promise<NotificationSettingsRow> {
  const row = await db.maybeOne(sql.type(settingsRow)`
    select means, threshold, mail_to as "mailTo", webhook_url as "webhookUrl",
      webhook_secret_ref as "webhookSecretRef"
    from read_notifications.notifications where user_id = ${userId}
  `)
  return row ?? UNSET
}

const warningRow = rowType({
  userId: wireInteger,
  /** The remaining quota, including quota held for open calls. */
  remaining: quota,
  threshold: quota,
  means: Type.Enum(['email', 'webhook']),
  mailTo: Type.String(),
  webhookUrl: Type.String(),
  webhookSecretRef: nullable(Type.String()),
})
export type AccountToWarn = RowOf<typeof warningRow>

/**
 * Finds the users among `userIds` who must be warned of low quota. These users are active, have an
 * address and less quota than their threshold, and were not warned after `warnedBefore` (Unix
 * milliseconds). A threshold of 0 disables the warnings of a user.
 */
export const accountsToWarnOfLowQuota = (
  db: CommonQueryMethods,
  userIds: readonly number[],
  { siteThreshold, warnedBefore }: { siteThreshold: bigint; warnedBefore: number },
): Promise<readonly AccountToWarn[]> =>
  db.any(sql.type(warningRow)`
    select u.id as "userId", a.balance + a.held as remaining, settings.threshold,
      coalesce(n.means, 'email') as means, settings.mail_to as "mailTo",
      coalesce(n.webhook_url, '') as "webhookUrl", n.webhook_secret_ref as "webhookSecretRef"
    from read_users.users u
    join read_balances.accounts a on a.user_id = u.id
    left join read_notifications.notifications n on n.user_id = u.id
    cross join lateral (
      select coalesce(n.threshold, ${siteThreshold}) as threshold,
        coalesce(nullif(n.mail_to, ''), u.email) as mail_to
    ) settings
    where u.id = any(${sql.array(userIds, 'int8')})
      and u.status = 1 and u.deleted_at is null
      and a.balance + a.held < settings.threshold and settings.threshold > 0
      and coalesce(n.warned_at, 0) <= ${warnedBefore}
      and (case when n.means = 'webhook' then n.webhook_url else settings.mail_to end) <> ''
    order by u.id
  `)
