import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/elements/button.tsx'
import { currentMonth, monthParam, monthText } from './utc-month.ts'

/** An input for a month in UTC. Future months can't be selected. */
export function MonthInput(props: { month: string; onMonth: (month: string) => void }) {
  const { t } = useTranslation()
  const { month, onMonth } = props
  const currentMonthText = currentMonth()
  const step = (months: number): void => {
    const [year = 0, number = 1] = month.split('-').map(Number)
    onMonth(monthText(new Date(Date.UTC(year, number - 1 + months, 1))))
  }
  return (
    <span className="tg-audit-month">
      <Button
        tone="quiet"
        icon="chevronLeft"
        label={t('audit.ledger.monthBefore')}
        onClick={() => step(-1)}
      />
      <input
        type="month"
        className="tg-input"
        aria-label={t('audit.ledger.month')}
        value={month}
        max={currentMonthText}
        onChange={({ currentTarget: { value } }) => {
          if (monthParam.read(value) !== null) onMonth(value)
        }}
      />
      <Button
        tone="quiet"
        icon="chevronRight"
        label={t('audit.ledger.monthAfter')}
        isDisabled={month >= currentMonthText}
        onClick={() => step(1)}
      />
    </span>
  )
}
