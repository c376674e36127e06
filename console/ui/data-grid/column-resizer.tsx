import { type KeyboardEvent, type PointerEvent, type ReactElement, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { WIDTH_MAX, WIDTH_MIN } from './column.ts'

const STEP_PX = 16

/** The edge of a header: dragged by pointer, moved by arrow keys. */
export function ColumnResizer(props: {
  title: string
  width: number
  onWidth: (width: number) => void
}): ReactElement {
  const { t } = useTranslation()
  const start = useRef<{ x: number; width: number } | null>(null)
  const onPointerDown = (event: PointerEvent<HTMLElement>) => {
    start.current = { x: event.clientX, width: drawnWidth(event.currentTarget) ?? props.width }
    event.currentTarget.setPointerCapture(event.pointerId)
  }
  const onPointerMove = (event: PointerEvent<HTMLElement>) => {
    if (start.current === null) return
    props.onWidth(start.current.width + event.clientX - start.current.x)
  }
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const width = drawnWidth(event.currentTarget) ?? props.width
    const next = {
      ArrowLeft: width - STEP_PX,
      ArrowRight: width + STEP_PX,
      Home: WIDTH_MIN,
      End: WIDTH_MAX,
    }[event.key]
    if (next === undefined) return
    event.preventDefault()
    event.stopPropagation()
    props.onWidth(next)
  }
  return (
    <span
      className="tg-grid-resizer"
      role="separator"
      aria-orientation="vertical"
      aria-label={t('ui.resize', { name: props.title })}
      aria-valuenow={props.width}
      aria-valuemin={WIDTH_MIN}
      aria-valuemax={WIDTH_MAX}
      tabIndex={0}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={() => {
        start.current = null
      }}
      onKeyDown={onKeyDown}
    />
  )
}

/** A column that grows is drawn wider than what is stored for it. */
const drawnWidth = (handle: HTMLElement): number | undefined =>
  handle.parentElement?.getBoundingClientRect().width
