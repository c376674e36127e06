import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { type Interval, orderedPair } from './chart-range.ts'
import {
  bucketEnd,
  bucketText,
  type ChartBucket,
  type ChartTexts,
  seriesColor,
  type UsageChart,
} from './usage-chart-data.ts'

/**
 * Shows the figures of a bar in a tooltip next to the bar. `position` is the horizontal position of
 * the bar in the chart, from 0 (left) to 1 (right).
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
      {/* biome-ignore lint/a11y/noStaticElementInteractions: keys and drags act on the bars */}
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

const NONE = -1

/**
 * Lets the user select bars by dragging, or with Shift and the arrow keys. When the user releases
 * the pointer or presses Enter, `onZoom` is called with the time interval of the selected bars.
 * Without a selection, Enter selects the focused bar. `onZoom` is not called for all bars or for a
 * single hour, because the chart would not change.
 */
function useBarSelection(chart: UsageChart, onZoom: (interval: Interval) => void) {
  const { buckets } = chart
  const barList = useRef<HTMLDivElement>(null)
  const [focusedIndex, setFocusedIndex] = useState(NONE)
  const [stop, setStop] = useState(NONE)
  const [anchor, setAnchor] = useState(NONE)
  const last = buckets.length - 1
  const current = stop < 0 || stop > last ? last : stop
  const range = anchor === NONE || focusedIndex === NONE ? null : orderedPair(anchor, focusedIndex)
  const zoom = (): void => {
    const [first, end] = range ?? [current, current]
    const [from, until] = [buckets[first]?.at, buckets[end]?.at]
    setAnchor(NONE)
    if (from === undefined || until === undefined) return
    // Zooming into all bars or into a single hour would change nothing.
    const isAll = first === 0 && end === last
    if (isAll || (chart.step === 'hour' && first === end)) return
    onZoom({ from, to: bucketEnd(until, chart) - 1 })
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && anchor !== NONE) {
      event.stopPropagation()
      return setAnchor(NONE)
    }
    if (event.key === 'Enter') {
      event.preventDefault()
      return zoom()
    }
    const steps = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: last }
    const next = steps[event.key as keyof typeof steps]
    if (next === undefined) return
    event.preventDefault()
    setAnchor(event.shiftKey ? (anchor === NONE ? current : anchor) : NONE)
    const button = barList.current?.children[next]
    if (button instanceof HTMLElement) button.focus()
  }
  const drag = useDrag(barList, last + 1, { setFocusedIndex, setAnchor, zoom })
  const isOn = (index: number): boolean => range !== null && index >= range[0] && index <= range[1]
  const focus = (index: number): void => {
    setStop(index)
    setFocusedIndex(index)
  }
  const blur = (): void => setFocusedIndex(NONE)
  return { barList, focusedIndex, current, isOn, focus, blur, onKeyDown, drag }
}

function useDrag(
  barList: { current: HTMLDivElement | null },
  count: number,
  on: {
    setFocusedIndex: (index: number) => void
    setAnchor: (index: number) => void
    zoom: () => void
  },
) {
  const isDown = useRef(false)
  const indexOf = ({ clientX }: PointerEvent): number => {
    const { left = 0, width = 1 } = barList.current?.getBoundingClientRect() ?? {}
    return Math.max(0, Math.min(count - 1, Math.floor(((clientX - left) / width) * count)))
  }
  return {
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return
      isDown.current = true
      event.currentTarget.setPointerCapture(event.pointerId)
      on.setFocusedIndex(indexOf(event))
      on.setAnchor(indexOf(event))
    },
    onPointerMove: (event: PointerEvent) => on.setFocusedIndex(indexOf(event)),
    onPointerUp: () => {
      if (isDown.current) on.zoom()
      isDown.current = false
    },
    onPointerCancel: () => {
      isDown.current = false
      on.setAnchor(NONE)
    },
    onPointerLeave: () => {
      if (!isDown.current) on.setFocusedIndex(NONE)
    },
  }
}
