import { useNumberFormat } from '#console/i18n/use-locale.ts'
import { QuotaChange } from '../elements/amounts-and-hashes.tsx'

/**
 * Shows a margin and its share of the charges. `charged` is the charge of all calls, and `uncosted`
 * the charge of the calls whose cost is unknown. The share leaves out `uncosted`, because the
 * margin does not include these calls.
 */
export function Margin(props: { margin: number; charged: number; uncosted?: number }) {
  const percent = useNumberFormat({
    style: 'percent',
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  })
  const { margin, charged, uncosted = 0 } = props
  const costed = charged - uncosted
  return (
    <span>
      <QuotaChange value={margin} />
      <span className="tg-audit-code tg-audit-share">
        {costed > 0 && percent.format(margin / costed)}
      </span>
    </span>
  )
}
