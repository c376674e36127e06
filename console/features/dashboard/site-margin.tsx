import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { useLocale } from '#console/i18n/use-locale-and-number-format.ts'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { exactQuotaText, quotaOf } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import { KeyFigure } from './key-figures.tsx'

export function MarginFigure({ totals }: { totals: CostTotals | undefined }) {
  const { t } = useTranslation()
  const rule = useMoneyRule()
  const percent = usePercent()
  const name = t('shared.margin')
  if (totals === undefined)
    return <KeyFigure name={name} value={<Skeleton width={60} height={24} />} />
  const margin = marginOf(totals)
  if (margin === null) return <KeyFigure name={name} value="–" />
  return (
    <KeyFigure
      name={name}
      value={exactQuotaText(margin.amount, rule)}
      note={
        margin.share === null
          ? undefined
          : t('dashboard.marginShare', { percent: percent(margin.share) })
      }
    />
  )
}

export function MarginNote({ totals }: { totals: CostTotals }) {
  const { t } = useTranslation()
  const percent = usePercent()
  const margin = marginOf(totals)
  if (margin?.coverage === 1) return <p className="tg-hint">{t('dashboard.marginNote')}</p>
  return (
    <p className="tg-hint tg-dash-margin-note">
      {margin === null
        ? t('dashboard.marginUnknown')
        : t('dashboard.marginPartly', { percent: percent(margin.coverage) })}{' '}
      <Link to="/admin/channels">{t('shared.toChannels')}</Link>
    </p>
  )
}

export function MarginShare({ totals }: { totals: CostTotals }) {
  const percent = usePercent()
  const share = marginOf(totals)?.share ?? null
  return <>{share === null ? '–' : percent(share)}</>
}

/**
 * Returns a function that formats a share as a percentage. The function rounds toward zero, so that
 * only a share of exactly 1 appears as 100 %.
 */
function usePercent(): (share: number) => string {
  const locale = useLocale()
  const format = new Intl.NumberFormat(locale, {
    style: 'percent',
    maximumFractionDigits: 1,
    roundingMode: 'trunc',
  } as Intl.NumberFormatOptions)
  return (share) => format.format(share)
}

/**
 * Totals of calls in quota units. `quota` is the charge of all calls. `costed_quota` is the charge
 * of the calls with a known cost, and `cost` is what the providers charge for those calls.
 */
export type CostTotals = {
  readonly quota: number
  readonly cost: number
  readonly costed_quota: number
}

type Margin = {
  /** The charges of users minus the charges of providers, for calls with a known cost. */
  readonly amount: bigint
  /**
   * `amount` divided by the charges of users for calls with a known cost, or null if these charges
   * are 0.
   */
  readonly share: number | null
  /**
   * The charges for calls with a known cost, as a share (0 to 1) of all charges. The share is 1 if
   * there are no charges.
   */
  readonly coverage: number
}

/** Returns the margin, or null if no call has a known cost. A known cost may be 0. */
export function marginOf({ quota, cost, costed_quota: charged }: CostTotals): Margin | null {
  if (cost === 0 && charged === 0) return null
  return {
    amount: quotaOf(charged) - quotaOf(cost),
    share: charged === 0 ? null : (charged - cost) / charged,
    coverage: quota === 0 ? 1 : charged / quota,
  }
}
