import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  observeWindowOffset,
  observeWindowRect,
  windowScroll,
} from '@tanstack/react-virtual'
import { useLayoutEffect, useRef, useState } from 'react'

/** The position of a list on its page, in pixels. */
export type PagePosition = {
  /** From the start of the page to the start of the list. */
  readonly top: number
  /** The height of the bar that covers the top of the window. */
  readonly coveredHeight: number
}

const BOX_SCROLLING = {
  observeElementRect: observeElementRect<HTMLDivElement>,
  observeElementOffset: observeElementOffset<HTMLDivElement>,
  scrollToFn: elementScroll<HTMLDivElement>,
}

/** A virtualizer has one type of scroller but may change the scroller, hence the cast. */
const PAGE_SCROLLING = {
  observeElementRect: observeWindowRect,
  observeElementOffset: observeWindowOffset,
  scrollToFn: windowScroll,
} as unknown as typeof BOX_SCROLLING

/** The options of a virtualizer that name the scroller of its rows. */
export const scrollerOptions = (isWithPage: boolean, box: () => HTMLDivElement | null) => ({
  ...(isWithPage ? PAGE_SCROLLING : BOX_SCROLLING),
  getScrollElement: () => (isWithPage ? (window as unknown as HTMLDivElement) : box()),
})

/** The position of a list that scrolls with its page; null while it scrolls in its box. */
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
    // The elements above the list wrap, open and load.
    const observer = new ResizeObserver(measure)
    observer.observe(box.closest('.tg-page') ?? document.body)
    return () => {
      observer.disconnect()
      setMeasured(null)
    }
  }, [box, isWithPage])
  if (box === null || !isWithPage) return null
  // The first render has the position too: rows drawn at another place would be measured there.
  return measured ?? positionOf(box)
}

function positionOf(box: HTMLElement): PagePosition {
  return {
    top: Math.round(box.getBoundingClientRect().top + window.scrollY),
    coveredHeight: document.querySelector<HTMLElement>('.tg-top')?.offsetHeight ?? 0,
  }
}

/**
 * Keeps rows in their place on screen when their scroller changes: the new scroller takes over the
 * distance of the old one. To be called after the virtualizer, which gives a new scroller the
 * offset of the old one.
 */
export function useScrollTakeover(box: HTMLElement | null, isWithPage: boolean): void {
  const wasWithPage = useRef(isWithPage)
  const before = useRef({ box: 0, page: 0 })
  // The offsets are read before the commit, which changes the height of the box.
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
