import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { Icon } from '#console/ui/elements/icons.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { exactQuotaText, quotaOf } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import type { LogStat } from '#read-api/contract/logs.ts'
import type { User } from '#read-api/contract/users.ts'

export function KeyFigures(props: { user: User | undefined; today: LogStat | undefined }) {
  const { t } = useTranslation()
  const rule = useMoneyRule()
  const number = useNumberFormat()
  const { user, today } = props
  const wait = <Skeleton width={60} height={24} />
  const quota = (value: number | undefined) =>
    value === undefined ? wait : exactQuotaText(quotaOf(value), rule)
  const tokens =
    today === undefined ? wait : number.format(today.prompt_tokens + today.completion_tokens)
  return (
    <dl className="tg-dash-figures">
      <KeyFigure
        name={t('shared.currentBalance')}
        value={quota(user?.quota)}
        note={t('dashboard.balanceHint')}
        isMain
      >
        {user !== undefined && user.quota < 0 && (
          <p className="tg-dash-negative">
            <Icon name="alert" size={14} /> {t('dashboard.negative')}
          </p>
        )}
      </KeyFigure>
      <KeyFigure name={t('dashboard.spentToday')} value={quota(today?.quota)} />
      <KeyFigure
        name={t('dashboard.callsToday')}
        value={today === undefined ? wait : number.format(today.count)}
      />
      <KeyFigure name={t('dashboard.tokensToday')} value={tokens} />
      <KeyFigure
        name={t('dashboard.usedInTotal')}
        value={quota(user?.used_quota)}
        note={user && t('dashboard.callsInTotal', callsOf(user, number))}
      />
    </dl>
  )
}

const callsOf = ({ request_count }: User, number: Intl.NumberFormat) => ({
  count: request_count,
  number: number.format(request_count),
})

export function KeyFigure(props: {
  name: string
  value: ReactNode
  note?: ReactNode
  isMain?: boolean
  children?: ReactNode
}) {
  return (
    <div className={props.isMain === true ? 'tg-dash-figure tg-dash-balance' : 'tg-dash-figure'}>
      <dt>{props.name}</dt>
      <dd>
        <span className="tg-dash-value">{props.value}</span>
        {props.note !== undefined && <span className="tg-dash-note">{props.note}</span>}
        {props.children}
      </dd>
    </div>
  )
}
