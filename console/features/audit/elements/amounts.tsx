import { useTranslation } from 'react-i18next'
import { CopyButton } from '#console/ui/elements/copy-button.tsx'
import { exactQuotaText, quotaOf } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'

/**
 * Shows an amount without rounding, because rounded amounts would not add up. Null is shown as a
 * dash.
 */
export function ExactQuota({ value }: { value: number | null }) {
  const { t } = useTranslation()
  const rule = useMoneyRule()
  if (value === null) return <span className="tg-muted">–</span>
  const units = t('shared.quotaUnits', { quota: String(value) })
  return (
    <span className="tg-amount" title={units}>
      {exactQuotaText(quotaOf(value), rule)}
    </span>
  )
}

/**
 * Shows a change of quota with its sign and a color. With `isNeutral`, it has no color, because a
 * higher charge is neither good nor bad.
 */
export function QuotaChange({ value, isNeutral }: { value: number; isNeutral?: boolean }) {
  const rule = useMoneyRule()
  const text = exactQuotaText(quotaOf(Math.abs(value)), rule)
  if (value === 0) return <span className="tg-amount tg-muted">{text}</span>
  return (
    <span className={value > 0 && isNeutral !== true ? 'tg-amount tg-audit-plus' : 'tg-amount'}>
      {value > 0 ? `+${text}` : `−${text}`}
    </span>
  )
}

const HASH_SHOWN = 16

/** Shows the first characters of a hash. The button copies the whole hash. */
export function Hash({ value }: { value: string }) {
  const { t } = useTranslation()
  return (
    <span className="tg-audit-hash">
      <code title={value}>
        {value.length > HASH_SHOWN ? `${value.slice(0, HASH_SHOWN)}…` : value}
      </code>
      <CopyButton text={value} label={t('ui.copy')} />
    </span>
  )
}
