import { useEffect, useState } from 'react'

const SKELETON_DELAY_MS = 150

/**
 * Returns true when `isOn` has been true for 150 ms. Placeholders appear only after this delay, so
 * that they do not flash if a response is fast.
 */
export function useDelayed(isOn: boolean): boolean {
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    if (!isOn) {
      setLate(false)
      return
    }
    const timer = setTimeout(() => setLate(true), SKELETON_DELAY_MS)
    return () => clearTimeout(timer)
  }, [isOn])
  return isOn && isLate
}

/**
 * A gray bar that is shown while content is loading. `width` is in percent, and `height` in pixels.
 */
export function Skeleton(props: { width?: number; height?: number }) {
  const isShown = useDelayed(true)
  return (
    <span
      className={isShown ? 'tg-skeleton tg-skeleton-shown' : 'tg-skeleton'}
      style={{ width: `${props.width ?? 100}%`, height: props.height ?? 14 }}
      aria-hidden="true"
    />
  )
}

export function FormSkeleton(props: { fields: number }) {
  const fields = Array.from({ length: props.fields }, (_, field) => field)
  return (
    <div className="tg-stack">
      {fields.map((field) => (
        <Skeleton key={field} height={54} />
      ))}
    </div>
  )
}
