import { useLayoutEffect } from 'react'

/** Lower than this, a list is better scrolled with the page. */
const ROOM_MIN_PX = 240
const GAP_PX = 12

/**
 * Makes a list as high as the window leaves room for, so that what follows it in its panel (the
 * pager) is in sight too. A list that begins far down its page keeps the height of its style.
 */
export function useFitHeight(box: HTMLElement | null): void {
  useLayoutEffect(() => {
    if (box === null) return
    const resize = (): void => {
      const room = roomFor(box)
      if (room < ROOM_MIN_PX) box.style.removeProperty('--tg-grid-room')
      else box.style.setProperty('--tg-grid-room', `${room}px`)
    }
    resize()
    // What stands above it wraps, opens and arrives.
    const observer = new ResizeObserver(resize)
    observer.observe(box.closest('.tg-page') ?? document.body)
    window.addEventListener('resize', resize)
    return () => {
      observer.disconnect()
      window.removeEventListener('resize', resize)
    }
  }, [box])
}

function roomFor(box: HTMLElement): number {
  const { top, bottom } = box.getBoundingClientRect()
  const panel = box.closest('.tg-panel')?.getBoundingClientRect().bottom ?? bottom
  return Math.floor(window.innerHeight - (top + window.scrollY) - (panel - bottom) - GAP_PX)
}
