import { useTranslation } from 'react-i18next'
import { bucketText, seriesColor } from './chart-bucket-text.ts'
import type { Interval } from './chart-range.ts'
import type { ChartBucket, ChartTexts } from './usage-chart-data.ts'
import { useBarSelection } from './use-bar-selection.ts'

/**
 * Shows the figures of a bar next to the bar. `position` is the horizontal position of the bar in
 * the chart, from 0 (left) to 1 (right).
 */
function BarTip(props: ChartTexts & { bucket: ChartBucket; position: number }) {
  const { t } = useTranslation()
  const { chart, bucket, position, seriesName, formatValue } = props
  const side =
    position > 0.5 ? { right: `${(1 - position) * 100}%` } : { left: `${position * 100}%` }
  return (
    <div className="tg-dash-tip" style={side} aria-hidden="true">
      <strong>{bucketText(bucket.at, chart)}</strong>
      {bucket.total === null ? (
        <p>{t('dashboard.gap')}</p>
      ) : (
        <p>
          {t('dashboard.total')} <b>{formatValue(bucket.total)}</b>
        </p>
      )}
      {chart.series.map(({ name }, index) => {
        const value = bucket.values.get(name)
        return value === undefined ? null : (
          <p key={name}>
            <span className="tg-dash-swatch" style={{ background: seriesColor(index, name) }} />
            {seriesName(name)} <b>{formatValue(value)}</b>
          </p>
        )
      })}
    </div>
  )
}

/**
 * Places an invisible button over each bar, for the keyboard and for screen readers. The chart is a
 * single stop of the Tab key, and arrow keys move from bar to bar.
 */
export function ChartBarButtons(props: ChartTexts & { onZoom: (interval: Interval) => void }) {
  const { t } = useTranslation()
  const { chart, seriesName, formatValue } = props
  const { buckets } = chart
  const { barList, focusedIndex, current, isOn, focus, blur, onKeyDown, drag } = useBarSelection(
    chart,
    props.onZoom,
  )
  const bucket = buckets[focusedIndex]
  const position = (focusedIndex + 0.5) / buckets.length
  return (
    <div className="tg-dash-hits">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: keys and drags go over the bars */}
      <div ref={barList} onKeyDown={onKeyDown} {...drag}>
        {buckets.map(({ at, total }, index) => (
          <button
            key={at}
            type="button"
            tabIndex={index === current ? 0 : -1}
            className={isOn(index) || index === focusedIndex ? 'tg-dash-hit-on' : undefined}
            aria-pressed={isOn(index)}
            aria-label={t('dashboard.bar', {
              time: bucketText(at, chart),
              total: total === null ? t('dashboard.gap') : formatValue(total),
            })}
            onFocus={() => focus(index)}
            onBlur={blur}
          />
        ))}
      </div>
      {bucket !== undefined && (
        <BarTip
          chart={chart}
          bucket={bucket}
          position={position}
          seriesName={seriesName}
          formatValue={formatValue}
        />
      )}
    </div>
  )
}
