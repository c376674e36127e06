import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { bucketText } from './bucket-text.ts'
import type { UsageChart } from './usage-chart.ts'

/** The chart's figures, exactly; what isn't known is a dash. */
export function UsageTable(props: {
  chart: UsageChart
  text: (value: bigint) => string
  nameOf: (series: string) => string
}): ReactElement {
  const { t } = useTranslation()
  const { chart, text, nameOf } = props
  const cell = (value: bigint | null | undefined): string =>
    value === null || value === undefined ? '–' : text(value)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys
    <section className="tg-dash-scroll" aria-label={t('dashboard.tableCaption')} tabIndex={0}>
      <table className="tg-dash-table">
        <caption className="tg-visually-hidden">{t('dashboard.tableCaption')}</caption>
        <thead>
          <tr>
            <th scope="col">{t('dashboard.bucket')}</th>
            {chart.series.map(({ name }) => (
              <th key={name} scope="col">
                {nameOf(name)}
              </th>
            ))}
            <th scope="col">{t('dashboard.total')}</th>
          </tr>
        </thead>
        <tbody>
          {chart.buckets.toReversed().map((bucket) => (
            <tr key={bucket.at}>
              <th scope="row">{bucketText(bucket.at, chart)}</th>
              {chart.series.map(({ name }) => (
                <td key={name}>{cell(bucket.values.get(name))}</td>
              ))}
              <td>{cell(bucket.total)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">{t('dashboard.total')}</th>
            {chart.series.map(({ name, total }) => (
              <td key={name}>{text(total)}</td>
            ))}
            <td>{text(chart.total)}</td>
          </tr>
        </tfoot>
      </table>
    </section>
  )
}
