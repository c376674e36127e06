import { useNumberFormat } from '#console/i18n/use-locale.ts'
import { QuotaChange } from '../elements/amounts.tsx'

/**
 * Shows the margin, and its share of the charges. Charges of calls with an unknown cost are left
 * out of both.
 */
export function Margin(props: { margin: number; charged: number; uncosted?: number }) {
  const percent = useNumberFormat({ style: 'percent', maximumFractionDigits: 1 })
  const { margin, charged, uncosted = 0 } = props
  const costed = charged - uncosted
  return (
    <span>
      <QuotaChange value={margin} />
      {costed > 0 && <span className="tg-audit-code">{percent.format(margin / costed)}</span>}
    </span>
  )
}
