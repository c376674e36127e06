import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  observeWindowOffset,
  observeWindowRect,
  windowScroll,
} from '@tanstack/react-virtual'
import { useLayoutEffect, useRef, useState } from 'react'

export type PositionOnPage = {
  /** The distance (px) from the top of the page to the top of the list. */
  readonly top: number
  /**
   * The height (px) of the console's top bar. This bar stays at the top of the window and hides the
   * part of the page that is behind it.
   */
  readonly coveredHeight: number
}

const BOX_SCROLLING = {
  observeElementRect: observeElementRect<HTMLDivElement>,
  observeElementOffset: observeElementOffset<HTMLDivElement>,
  scrollToFn: elementScroll<HTMLDivElement>,
}

/**
 * Options that make the virtualizer use the scroll position of the window, and not of an element.
 * The cast is needed, because the library has different types for elements and for the window.
 */
const WINDOW_SCROLLING = {
  observeElementRect: observeWindowRect,
  observeElementOffset: observeWindowOffset,
  scrollToFn: windowScroll,
} as unknown as typeof BOX_SCROLLING

export const scrollOptions = (scrollsWithWindow: boolean, box: () => HTMLDivElement | null) => ({
  ...(scrollsWithWindow ? WINDOW_SCROLLING : BOX_SCROLLING),
  getScrollElement: () => (scrollsWithWindow ? (window as unknown as HTMLDivElement) : box()),
})

/**
 * Returns the position on the page of a list that scrolls with the window. Returns null for a list
 * with its own scroll bar.
 */
export function usePositionOnPage(
  box: HTMLElement | null,
  scrollsWithWindow: boolean,
): PositionOnPage | null {
  const [measured, setMeasured] = useState<PositionOnPage | null>(null)
  useLayoutEffect(() => {
    if (box === null || !scrollsWithWindow) return
    const measure = (): void =>
      setMeasured((last) => {
        const next = positionOf(box)
        const isSame = last?.top === next.top && last.coveredHeight === next.coveredHeight
        return isSame ? last : next
      })
    measure()
    // The position is measured again when an element above the list changes its height.
    const observer = new ResizeObserver(measure)
    observer.observe(box.closest('.tg-page') ?? document.body)
    return () => {
      observer.disconnect()
      setMeasured(null)
    }
  }, [box, scrollsWithWindow])
  if (box === null || !scrollsWithWindow) return null
  // In the first rendering, no measurement is stored yet, but the rows already need the position.
  return measured ?? positionOf(box)
}

function positionOf(box: HTMLElement): PositionOnPage {
  return {
    top: Math.round(box.getBoundingClientRect().top + window.scrollY),
    coveredHeight: document.querySelector<HTMLElement>('.tg-top')?.offsetHeight ?? 0,
  }
}

/**
 * Keeps the rows in place on the screen when the list starts or stops scrolling with the window.
 * Call this hook after `useVirtualizer`, because this hook corrects the scroll offset that the
 * virtualizer sets.
 */
export function useKeepRowsInPlace(box: HTMLElement | null, scrollsWithWindow: boolean): void {
  const scrolledWithWindow = useRef(scrollsWithWindow)
  const before = useRef({ box: 0, page: 0 })
  // The scroll offsets are read during rendering, because committing changes the height of the
  // list.
  if (scrolledWithWindow.current !== scrollsWithWindow) {
    before.current = { box: box?.scrollTop ?? 0, page: window.scrollY }
  }
  useLayoutEffect(() => {
    if (box === null || scrolledWithWindow.current === scrollsWithWindow) return
    scrolledWithWindow.current = scrollsWithWindow
    if (scrollsWithWindow) window.scrollTo({ top: before.current.page + before.current.box })
    else box.scrollTop = before.current.page - window.scrollY
  }, [box, scrollsWithWindow])
}
