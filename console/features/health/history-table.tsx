import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { useNumberFormat } from '#console/i18n/use-locale.ts'
import { durationText, rateText } from './figure-text.ts'
import { Gap } from './health-columns.tsx'
import type { History } from './health-history.ts'

/** What the chart draws, in figures, newest first. */
export function HistoryTable({ history }: { history: History }): ReactElement {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const time = (value: number | null) => (value === null ? <Gap /> : durationText(value, number))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reachable by keys
    <section className="tg-health-scroll" tabIndex={0} aria-label={t('health.history.title')}>
      <table className="tg-health-table">
        <thead>
          <tr>
            <th scope="col">{t('health.history.time')}</th>
            <th scope="col">{t('health.column.success')}</th>
            <th scope="col">{t('health.history.attempts')}</th>
            <th scope="col">{t('health.column.p50')}</th>
            <th scope="col">{t('health.column.p95')}</th>
          </tr>
        </thead>
        <tbody>
          {history.steps.toReversed().map(({ at, time: text, attempts, rate, p50, p95 }) => (
            <tr key={at}>
              <th scope="row">{text}</th>
              <td>{rate === null ? <Gap /> : rateText(rate, number)}</td>
              <td>{attempts === 0 ? <Gap /> : number.format(attempts)}</td>
              <td>{time(p50)}</td>
              <td>{time(p95)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
