import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { exactQuotaText, quotaOf } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import type { LogStat } from '#read-api/contract/logs.ts'
import type { LogFilters } from './log-url-params.ts'

type Props = { readonly stat: LogStat | undefined; readonly type: LogFilters['type'] }

/** Shows totals of all rows that match the filters, and not only of the current page. */
export function LogSummary({ stat, type }: Props) {
  // Rows of other types are not about calls. For these rows, the total is the amount by which
  // balances were changed.
  const isCalls = type === 0 || type === 2 || type === 6
  const { t } = useTranslation()
  const rule = useMoneyRule()
  const number = useNumberFormat()
  const figure = (read: (stat: LogStat) => string) =>
    stat === undefined ? <Skeleton width={50} /> : read(stat)
  return (
    <section className="tg-log-summary" aria-label={t('usageLog.summary')}>
      <dl>
        <Chip
          name={t(isCalls ? 'usageLog.cost' : 'usageLog.amount')}
          value={figure(({ quota }) => exactQuotaText(quotaOf(quota), rule))}
          isMain
        />
        <Chip
          name={t(isCalls ? 'shared.calls' : 'usageLog.entries')}
          value={figure(({ count }) => number.format(count))}
        />
        <Chip
          name={t('usageLog.prompt')}
          value={figure(({ prompt_tokens: tokens }) => number.format(tokens))}
        />
        <Chip
          name={t('usageLog.completion')}
          value={figure(({ completion_tokens: tokens }) => number.format(tokens))}
        />
        <Chip
          name={t('usageLog.rpm')}
          hint={t('usageLog.rpmHint')}
          value={figure(({ rpm }) => number.format(rpm))}
        />
        <Chip
          name={t('usageLog.tpm')}
          hint={t('usageLog.tpmHint')}
          value={figure(({ tpm }) => number.format(tpm))}
        />
      </dl>
    </section>
  )
}

function Chip(props: { name: string; value: ReactNode; hint?: string; isMain?: boolean }) {
  return (
    <div className={props.isMain === true ? 'tg-log-chip tg-log-chip-main' : 'tg-log-chip'}>
      <dt title={props.hint}>{props.name}</dt>
      <dd>{props.value}</dd>
    </div>
  )
}
