import { useTranslation } from 'react-i18next'
import { currentSeconds } from '#console/api/scratch-copy.ts'
import { Button } from '#console/ui/elements/button.tsx'
import type { UrlParam } from '#console/ui/state/url-state.ts'

/** Returns the month of a time in UTC, such as `2026-11`. */
const monthText = (time: Date): string => time.toISOString().slice(0, 7)

/**
 * Returns the current month in UTC. While a scratch copy (the site as of an earlier time) is open,
 * returns the month of that earlier time.
 */
export const currentMonth = (): string => monthText(new Date(currentSeconds() * 1_000))

/** Returns the first and the last day of a month in UTC, such as `2026-11-01` and `2026-11-30`. */
export function daysOfMonth(month: string): { first: string; last: string } {
  const [year = 0, number = 1] = month.split('-').map(Number)
  const last = new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10)
  return { first: `${month}-01`, last }
}

/** The URL parameter for a day in UTC. The default is an empty text. */
export const dayParam: UrlParam<string> = {
  fallback: '',
  read: (text) =>
    /^2\d{3}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : null,
  write: (day) => day,
}

/**
 * The URL parameter for a month in UTC. The default is an empty text, which selects the current
 * month.
 */
export const monthParam: UrlParam<string> = {
  fallback: '',
  read: (text) => (/^2\d{3}-(?:0[1-9]|1[0-2])$/.test(text) ? text : null),
  write: (month) => month,
}

/** Returns the name of a month. `month` has the form `2026-11`. */
export const monthName = (month: string, locale: string): string =>
  new Intl.DateTimeFormat(locale, { year: 'numeric', month: 'long', timeZone: 'UTC' }).format(
    Date.parse(`${month}-01`),
  )

/** An input for a month in UTC. The picker and the arrow offer no future months. */
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
