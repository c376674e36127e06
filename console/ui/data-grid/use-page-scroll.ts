import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  observeWindowOffset,
  observeWindowRect,
  windowScroll,
} from '@tanstack/react-virtual'
import { useLayoutEffect, useRef, useState } from 'react'

export type PagePosition = {
  /** The distance (px) from the top of the page to the top of the list. */
  readonly top: number
  /** The height (px) of the top bar. */
  readonly coveredHeight: number
}

const BOX_SCROLLING = {
  observeElementRect: observeElementRect<HTMLDivElement>,
  observeElementOffset: observeElementOffset<HTMLDivElement>,
  scrollToFn: elementScroll<HTMLDivElement>,
}

/**
 * Makes the list scroll with the page. The cast is needed, because the library's types permit
 * either elements or the window, and the options are for both.
 */
const PAGE_SCROLLING = {
  observeElementRect: observeWindowRect,
  observeElementOffset: observeWindowOffset,
  scrollToFn: windowScroll,
} as unknown as typeof BOX_SCROLLING

export const scrollerOptions = (isWithPage: boolean, box: () => HTMLDivElement | null) => ({
  ...(isWithPage ? PAGE_SCROLLING : BOX_SCROLLING),
  getScrollElement: () => (isWithPage ? (window as unknown as HTMLDivElement) : box()),
})

/**
 * Returns the position of a list that scrolls with the page. Returns null if the list scrolls in
 * its own box.
 */
export function usePagePosition(box: HTMLElement | null, isWithPage: boolean): PagePosition | null {
  const [measured, setMeasured] = useState<PagePosition | null>(null)
  useLayoutEffect(() => {
    if (box === null || !isWithPage) return
    const measure = (): void =>
      setMeasured((last) => {
        const next = positionOf(box)
        const isSame = last?.top === next.top && last.coveredHeight === next.coveredHeight
        return isSame ? last : next
      })
    measure()
    // Measures again after an element above the list changes its height.
    const observer = new ResizeObserver(measure)
    observer.observe(box.closest('.tg-page') ?? document.body)
    return () => {
      observer.disconnect()
      setMeasured(null)
    }
  }, [box, isWithPage])
  if (box === null || !isWithPage) return null
  // In the first rendering, no measurement is stored yet, but the rows need the position.
  return measured ?? positionOf(box)
}

function positionOf(box: HTMLElement): PagePosition {
  return {
    top: Math.round(box.getBoundingClientRect().top + window.scrollY),
    coveredHeight: document.querySelector<HTMLElement>('.tg-top')?.offsetHeight ?? 0,
  }
}

/**
 * Keeps the rows in place when the list changes between scrolling with the page and scrolling in
 * its box. Call this hook after `useVirtualizer`, because it corrects the scroll offset that the
 * virtualizer sets.
 */
export function useScrollTakeover(box: HTMLElement | null, isWithPage: boolean): void {
  const wasWithPage = useRef(isWithPage)
  const before = useRef({ box: 0, page: 0 })
  // Reads the scroll offsets during rendering, before the commit changes the height of the box.
  if (wasWithPage.current !== isWithPage) {
    before.current = { box: box?.scrollTop ?? 0, page: window.scrollY }
  }
  useLayoutEffect(() => {
    if (box === null || wasWithPage.current === isWithPage) return
    wasWithPage.current = isWithPage
    if (isWithPage) window.scrollTo({ top: before.current.page + before.current.box })
    else box.scrollTop = before.current.page - window.scrollY
  }, [box, isWithPage])
}
