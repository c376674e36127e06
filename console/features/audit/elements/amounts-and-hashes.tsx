import { useTranslation } from 'react-i18next'
import { CopyButton } from '#console/ui/elements/copy-to-clipboard.tsx'
import { AmountText } from '#console/ui/quota/amount-text.tsx'
import { exactQuotaText, quotaOf } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'

/**
 * Shows an amount of quota with all its decimals (at most 9), so that displayed amounts add up.
 * `value` is in quota units. Null is shown as a dash.
 */
export function ExactQuota({ value }: { value: number | null }) {
  const { t } = useTranslation()
  const rule = useMoneyRule()
  if (value === null) return <span className="tg-muted">–</span>
  const units = t('shared.quotaUnits', { quota: String(value) })
  return <AmountText text={exactQuotaText(quotaOf(value), rule)} title={units} />
}

/**
 * Shows a change of quota with its sign. An increase has a color, unless `isNeutral` is true. Set
 * `isNeutral` for a change of a charge, because a higher charge is neither good nor bad.
 */
export function QuotaChange({ value, isNeutral }: { value: number; isNeutral?: boolean }) {
  const { t } = useTranslation()
  const rule = useMoneyRule()
  const text = exactQuotaText(quotaOf(Math.abs(value)), rule)
  const title = t('shared.quotaUnits', { quota: String(value) })
  if (value === 0) return <AmountText text={text} title={title} className="tg-muted" />
  return (
    <AmountText
      text={value > 0 ? `+${text}` : `−${text}`}
      title={title}
      {...(value > 0 && isNeutral !== true ? { className: 'tg-audit-plus' } : {})}
    />
  )
}

const HASH_SHOWN = 16

/**
 * Shows the first characters of `shown`, which is the hash `value` or a part of it. A button copies
 * the whole hash.
 */
export function Hash({ value, shown = value }: { value: string; shown?: string }) {
  const { t } = useTranslation()
  return (
    <span className="tg-audit-hash">
      <code title={value}>
        {shown.length > HASH_SHOWN ? `${shown.slice(0, HASH_SHOWN)}…` : shown}
      </code>
      <CopyButton text={value} label={t('ui.copy')} />
    </span>
  )
}
