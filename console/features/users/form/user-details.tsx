import { queryOptions, useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { listLogs, logsKey } from '#console/api/usage-log-queries.ts'
import { GroupTag } from '#console/ui/elements/group-tag.tsx'
import { LabelledValues, type NamedValue } from '#console/ui/elements/labelled-value.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import { quotaOf } from '#console/ui/quota/money.ts'
import { Quota } from '#console/ui/quota/quota.tsx'
import type { LogEntry, LogOther } from '#read-api/contract/logs.ts'
import type { User } from '#read-api/contract/users.ts'
import { LevelTag, StateTag } from '../list/user-cells.tsx'

const BINDINGS = [
  ['email', 'email'],
  ['github_id', 'github'],
  ['oidc_id', 'oidc'],
  ['wechat_id', 'wechat'],
  ['telegram_id', 'telegram'],
  ['linux_do_id', 'linuxdo'],
] as const

export function UserDetails({ user }: { user: User }) {
  const { t } = useTranslation()
  return (
    <Facts
      title={t('users.overview')}
      facts={[
        [t('shared.status'), <StateTag key="status" user={user} />],
        [t('users.role'), <LevelTag key="level" user={user} />],
        [t('ui.groupName'), <GroupTag key="group" name={user.group} />],
        [t('shared.balance'), <Quota key="balance" value={quotaOf(user.quota)} />],
        [t('users.used'), <Quota key="used" value={quotaOf(user.used_quota)} />],
        [t('shared.created'), <Time key="created" at={user.created_time} style="stamp" />],
      ]}
    />
  )
}

/**
 * Shows the mail address of a user, and the accounts on other sites with which the user can log in.
 * Admins can see these accounts, but only the user can connect such an account.
 */
export function Bindings({ user }: { user: User }) {
  const { t } = useTranslation()
  return (
    <Facts
      title={t('oauth.bindings')}
      facts={BINDINGS.map(([field, provider]) => [
        t(provider === 'email' ? 'auth.email' : `oauth.site.${provider}`),
        <span key={field} className={user[field] === '' ? 'tg-quiet' : 'tg-user-binding'}>
          {user[field] || t('oauth.unbound')}
        </span>,
      ])}
    />
  )
}

export function QuotaChanges({ username }: { username: string }) {
  const { t } = useTranslation()
  const { data = [] } = useQuery({ ...quotaChangesQuery(username), enabled: username !== '' })
  if (data.length === 0) return null
  return (
    <section className="tg-user-part">
      <h3>{t('users.quotaChanges')}</h3>
      <ul className="tg-user-changes">
        {data.map((row) => (
          <QuotaChange key={row.id} row={row} />
        ))}
      </ul>
    </section>
  )
}

function QuotaChange({ row }: { row: LogEntry }) {
  const { t } = useTranslation()
  const { changed_by: by, note } = JSON.parse(row.other) as LogOther
  return (
    <li>
      <span className="tg-user-change">
        {row.quota > 0 && '+'}
        {row.quota === 0 ? <GroupTag name={row.group} /> : <Quota value={quotaOf(row.quota)} />}
      </span>
      {note ? <span>{note}</span> : <span className="tg-quiet">{t('shared.noReason')}</span>}
      <span className="tg-quiet">
        {by !== undefined && t('users.changedBy', { name: by.username || `#${by.id}` })}{' '}
        <Time at={row.created_at} />
      </span>
    </li>
  )
}

function Facts({ title, facts }: { title: string; facts: readonly NamedValue[] }) {
  return (
    <section className="tg-user-part">
      <h3>{title}</h3>
      <LabelledValues className="tg-user-facts" values={facts} />
    </section>
  )
}

const ADMIN_TYPE = 3
const SHOWN = 5

const quotaChangesQuery = (username: string) =>
  queryOptions({
    queryKey: [...logsKey, 'by-hand', username],
    queryFn: async ({ signal }) => {
      const params = { type: ADMIN_TYPE, username }
      return (await listLogs({ scope: 'all', params, page: 0, pageSize: SHOWN, signal })).items
    },
    staleTime: 0,
  })
